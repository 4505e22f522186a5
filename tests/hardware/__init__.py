"""One suite over real and simulated back ends.

The real drivers run here as they do on a Pi, down to what the kernel would be told: a bus that is no bus takes their
bytes, and a controller that is no controller makes a picture of them (`buses`). With `RUMMESH_TEST_PANEL=ssd1306` (or
another kind) the suite also runs on the panel that is connected, for somebody to watch.
"""
