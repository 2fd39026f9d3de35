"""Runs a command on a pseudo-terminal of its own: a line of JSON in, a line of JSON out.

In:  {"send": text} | {"resize": [columns, rows]} | {"signal": number}
Out: {"out": base64} | {"code": exit status, "raw": whether the terminal was left without echo}
"""
import base64, fcntl, json, os, selectors, struct, subprocess, sys, termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])
master, slave = os.openpty()


def resize(columns, rows):
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def lead():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


resize(columns, rows)
child = subprocess.Popen(sys.argv[3:], stdin=slave, stdout=slave, stderr=slave, preexec_fn=lead)
waiting = selectors.DefaultSelector()
waiting.register(master, selectors.EVENT_READ, "terminal")
waiting.register(0, selectors.EVENT_READ, "orders")
orders = b""
while True:
    for key, _ in waiting.select(0.05):
        if key.data == "terminal":
            say({"out": base64.b64encode(os.read(master, 65536)).decode()})
            continue
        read = os.read(0, 65536)
        if not read:
            child.kill()
            waiting.unregister(0)
        orders += read
        *lines, orders = orders.split(b"\n")
        for order in map(json.loads, lines):
            if "send" in order:
                os.write(master, order["send"].encode())
            elif "resize" in order:
                resize(*order["resize"])
            else:
                child.send_signal(order["signal"])
    if child.poll() is not None:
        break
raw = not termios.tcgetattr(slave)[3] & termios.ECHO
# The kernel passes on what was written last a little later; with no writer left, the end comes after it.
os.close(slave)
try:
    while rest := os.read(master, 65536):
        say({"out": base64.b64encode(rest).decode()})
except OSError:
    pass
say({"code": child.returncode, "raw": raw})
