"""Every type and function that snippets import, under one roof."""
# ruff: noqa: F401  (imported so as to be imported from here)

from tasks_lib.compat.conversions import (
    items_to_chat_messages,
    items_to_model_input,
    load_model_output,
    model_input_to_items,
    model_output_to_items,
    model_output_to_message,
)
from tasks_lib.trace.content import (
    ContentPart,
    ImageDetail,
    InputFileContent,
    InputImageContent,
    InputTextContent,
    InputVideoContent,
    Logprob,
    OutputTextContent,
    ReasoningTextContent,
    RefusalContent,
    SummaryTextContent,
    TextCitation,
    TextContent,
    UrlCitation,
)
from tasks_lib.trace.events import (
    CompactionEvent,
    CompactionStrategy,
    CustomEvent,
    ErrorEvent,
    FunctionCallEvent,
    MessageEvent,
    ModelCallEvent,
    SpanBeginEvent,
    SpanEndEvent,
    TraceEvent,
)
from tasks_lib.trace.evidence import (
    ActionRecord,
    MetricData,
    MetricValues,
    ModelTokenUsage,
    RawSample,
    RunEvidence,
    SampleData,
    SampleEvidence,
    SampleScore,
    SampleTrialEvidence,
    ScoresData,
    SolverData,
    TaskResultError,
    TaskResultEvidence,
    TaskResultFailures,
    TaskResultLog,
    TaskStage,
    TokenPurpose,
    flat_metrics,
)
from tasks_lib.trace.grouped import (
    GroupedSolverOutput,
    GroupedSolverTrace,
    SolverOutput,
)
from tasks_lib.trace.items import (
    SYNTHETIC_MESSAGE_STATUS,
    AssistantMessage,
    CustomTaskInputMessage,
    CustomTaskOutputMessage,
    FunctionCall,
    FunctionCallOutput,
    FunctionCallOutputStatusEnum,
    FunctionCallStatus,
    Message,
    MessageRole,
    MessageStatus,
    SystemMessage,
    TraceItem,
    UserMessage,
)
from tasks_lib.trace.legacy import SingleSolverOutput
from tasks_lib.trace.outputs import (
    ChatCompletionInput,
    ChatCompletionInputMessage,
    ChatCompletionJSONSchema,
    ChatCompletionModelOutput,
    ChatCompletionModelOutputChoice,
    ChatCompletionOutputMessage,
    ChatCompletionResponseFormatJSONSchema,
    EmbeddingsModelOutput,
    ModelOutput,
    ModelResponse,
    ModelUsage,
    OpenResponsesModelOutput,
    RAGCompletionModelOutputChoice,
    RAGCompletionOutput,
    RAGReference,
)
from tasks_lib.trace.solver_trace import (
    DirectInput,
    DirectModelIO,
    DirectOutput,
    SolverTrace,
)
from tasks_lib.trace.trace import (
    Trace,
    TraceFormat,
    TraceMetadata,
)
from tasks_lib.trace.turns import (
    Turn,
)
