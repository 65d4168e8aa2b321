"""Keys of provider models."""

import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_lib.definitions.keys import ModelReference, ReferencedKey, provider_key

REFERENCE = TypeAdapter(ModelReference)


@pytest.mark.parametrize(
    ("reference", "key"),
    [
        ("openai/gpt-4.1-nano", "openai$gpt-4-1-nano"),
        (
            "together/meta-llama/Llama-3.3-70B-Instruct-Turbo",
            "together$meta-llama-llama-3-3-70b-instruct-turbo",
        ),
        ("novita/deepseek/deepseek_v3:free", "novita$deepseek-deepseek_v3-free"),
        ("openai/a..b", "openai$a-b"),
    ],
)
def test_a_provider_model_has_a_key(reference, key):
    assert provider_key(reference) == key


@pytest.mark.parametrize("reference", ["openai", "openai/", "/x", "nobody/x", "openai/...", "a/b"])
def test_what_is_no_provider_model_is_refused(reference):
    with pytest.raises(ValueError, match=r".+"):
        provider_key(reference)


@pytest.mark.parametrize(
    "reference", ["m", "openai$gpt-4-1-nano", "openai/gpt-4.1", "openai$<< config.model >>"]
)
def test_a_model_is_named_by_key_or_provider(reference):
    assert REFERENCE.validate_python(reference) == reference


@pytest.mark.parametrize("reference", ["", "my model", "nobody/x", "m" * 251])
def test_other_names_are_refused(reference):
    with pytest.raises(ValidationError):
        REFERENCE.validate_python(reference)


def test_a_referenced_key_may_hold_a_dollar_sign():
    assert TypeAdapter(ReferencedKey).validate_python("latticeflow$identity")
