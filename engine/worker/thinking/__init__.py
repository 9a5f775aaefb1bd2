"""Thought and answer kept apart, across the borders of tokens.

The rule: a thought opens only at the very start of what the model writes, white space aside, or in the prompt itself.
The first closing tag ends it. Tags that come later are text. White space next to a tag belongs to the tag.
"""
