"""The table on an MQTT broker: what everybody may see goes out, presses may come in, displays and pages follow.

Everything here is optional: without a broker, or with one that comes and goes, the game is the same. Topics and
messages are described in docs/mqtt.md.
"""
