"""The display without hardware: screens, care, presses, signals and the keeper."""
