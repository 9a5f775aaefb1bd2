"""What the one window of Game Mode has besides the chat: pages, pad hints, arrow keys that go where they point."""
