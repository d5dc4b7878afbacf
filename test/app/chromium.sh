#!/bin/sh
# Chromium ends itself when time goes back, and between the cores of some virtual machines it does: so it gets one core.
taskset -c 0 true 2>/dev/null && exec taskset -c 0 /usr/bin/chromium "$@"
exec /usr/bin/chromium "$@"
