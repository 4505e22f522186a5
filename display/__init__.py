"""The clock on the table: screens, OLED, buttons. It knows views and presses, never keys, messages or agreement.

Empty for now; the folder is here so that the import rules hold for it from the start.
"""
