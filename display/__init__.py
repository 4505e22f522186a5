"""The clock on the table: screens, OLED, buttons. It knows views and presses, nothing of keys, messages or agreement."""
