"""Claim by claim: what an answer says, what it should say, and what the retrieved texts say."""
