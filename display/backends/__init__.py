"""Panels behind one small interface (`base`): real OLEDs (`oled`) and simulated ones, in memory (`memory`), as PNG and
GIF files (`files`) and live in a terminal (`terminal`). `opening` makes one from options.
"""
