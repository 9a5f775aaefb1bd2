"""Sets Vramble up on this machine. Standard library only: it runs before anything is installed."""
