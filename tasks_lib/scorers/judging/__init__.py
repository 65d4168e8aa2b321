"""Asking a model for a verdict, and reading the verdict out of what it says.

What is judged is untrusted: it enters the prompt verbatim, through the author's template and
nowhere else, and may hold instructions, fake verdicts or faked ends of the text. It never
becomes a verdict itself. What is asked for stands in the system message, after the author's
words; only the judge's reply is read, and in it only what stands where a verdict stands, so
that a verdict the judge quotes while it reasons does not count. Authors who judge hostile text
should wrap it in marks of their own in `user_prompt`.
"""
