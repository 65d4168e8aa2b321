"""Tasks as the documentation writes them."""

GENERIC_INPUT = """
    display_name: "Single-turn Solver Generic Input"
    key: "singleturn-generic-input"
    description: "Example task that uses a single-turn solver with generic input builder."
    config_spec: []
    definition:
      dataset:
        key: "qa-single-answers"
      solver:
        type: "single_turn_solver"
        input_builder:
          type: generic
          template: >
            {
                "messages": [
                {
                  "role": "system",
                  "content": "You are a helpful assistant. Answer with no punctuation."
                },
                {
                  "role": "user",
                  "content": "{{ sample.question }}"
                }
              ]
            }
      scorers:
        - type: "string_equals"
          ground_truth: "{{ sample.target }}"
    """


POTTER = """
    display_name: "Harry Potter Trivia Task"
    key: "hp-trivia"
    description: "Assesses the model knowledge of Harry Potter trivia."
    config_spec: []
    definition:
      evaluated_entity_type: "model"
      dataset:
        key: "hp-trivia-dataset"
      solver:
        type: "single_turn_solver"
        input_builder:
          type: "chat_completion"
          input_messages:
            - role: "system"
              content: "You are a helpful assistant."
            - role: "user"
              content: "Respond to this question concisely. {{ sample.question }}"
      scorers:
        - type: "model_as_a_judge_classifier"
          model_key: "openai$gpt-4-1-nano"
          user_prompt: "{{ sample.gt_answer }} {{ trace.get_last_assistant_text() }}"
          correct_labels: ["correct"]
          incorrect_labels: ["incorrect"]
          use_structured_outputs: true
    """
