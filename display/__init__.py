"""The clock on the table: screens, OLED, buttons, LED and buzzer. It knows views and presses, never keys, messages or
agreement.

Reading order: `views` says what a screen can show; `screens` and `lists` draw it with the help of `canvas` and
`fonts`, in the words of `words`. `backends/` puts pictures on a panel, real or simulated; `care` spares the panel;
`keeper` keeps one showing what it should. `presses` makes presses of the edges of contacts, `buttons` gets those edges
from pins, keys or a script; `signals` says when LED and buzzer do what, and `pins` has the real ones. `gallery` draws
every screen for the docs. Pillow, luma.oled and gpiozero come with the extra `display` and are imported only where they
are used; times are seconds of a monotonic clock and come in as arguments wherever something is decided.
"""
