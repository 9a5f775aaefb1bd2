"""The stylesheet's parts, one module for each family of widgets: templates with the names of tokens and measures."""
