#!/usr/bin/env python3
"""Prints a manual page of weft: manpage.py BINARY weft|weft-serve VERSION DATE

The options come from what the program prints for --help, so that the page cannot miss one. What
stands around them is here.
"""

import re
import subprocess
import sys

FILES = """.SH FILES
.TP
.I /etc/weft.conf
the flags of the service, one a line, in the form of memcached.conf
.TP
.I /etc/weft/
for files of passwords and certificates
.TP
.I /var/lib/weft/
the service's own folder, for \\fB\\-\\-data\\fR and calibrations
.TP
.I /usr/lib/weft/memcached
a link to the program: called by this name it is \\fBweft serve\\fR
"""
SIGNALS = """.SH SIGNALS
.TP
.B SIGTERM, SIGINT, SIGUSR1
answer what was received, and end
.TP
.B SIGHUP
read the files again that \\fB\\-Y\\fR and \\fB\\-S\\fR name
.SH "EXIT STATUS"
0 after a signal. 1, or one from 64 to 78, if the server cannot start; one line says why.
"""
ENVIRONMENT = """.SH ENVIRONMENT
.TP
.B MEMCACHED_SASL_PWDB
the file of users and passwords for \\fB\\-S\\fR
.TP
.B MEMCACHED_PORT_FILENAME
a file that gets the ports that the server listens on
.TP
.B NOTIFY_SOCKET
where systemd is told that the server serves, reads its files again, and stops
"""
SECURITY = """.SH SECURITY
Without \\fB\\-Y\\fR or \\fB\\-S\\fR whoever reaches the port can read and change everything. The
server listens on 127.0.0.1 unless \\fB\\-l\\fR says otherwise.
"""


def quoted(text):
    """Text in which troff finds nothing to carry out."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def help_of(binary, *words):
    return subprocess.run([binary, *words, "--help"], check=True, capture_output=True,
                          text=True).stdout


def sections(text):
    """(title, lines) of each part of a help text: a line that ends in a colon, and what follows."""
    parts = []
    for line in text.splitlines():
        if re.match(r"\S.*:$", line):
            parts.append((line[:-1], []))
        elif parts and line.strip():
            parts[-1][1].append(line)
    return parts


def entries(lines):
    """(option, meaning) of each entry; a meaning may begin on the next line and have several."""
    found = []
    for line in lines:
        at_start = re.match(r"  (\S.*?)(?:  +(\S.*)|$)", line)
        # One blank is left where an option is as wide as its column.
        tight = re.match(r"  (-\S+ [A-Z]+) (\S.*)", line)
        match = tight if tight and not re.match(r"  \S.*?  +\S", line) else at_start
        if match and not line.startswith("   "):
            found.append([match.group(1), match.group(2) or ""])
        elif found:
            found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
    return found


def options(text, heading):
    page = [f".SH {heading}"]
    for title, lines in sections(text):
        page.append(f".SS {quoted(title)}")
        if not lines:
            continue
        if not lines[0].lstrip().startswith("-") and "," in lines[0]:
            page.append(quoted(" ".join(line.strip() for line in lines)))
            continue
        for option, meaning in entries(lines):
            page += [".TP", f".B {quoted(option)}", quoted(meaning)]
    return "\n".join(page) + "\n"


def page_of_weft(binary):
    text = help_of(binary)
    return (".SH NAME\nweft \\- in\\-memory cache server and durable store\n"
            ".SH SYNOPSIS\n.B weft\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
            ".SH DESCRIPTION\n" + quoted(text.splitlines()[0]) + "\n"
            "\\fBweft\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR lists the options of a command.\n"
            + options(text.split("weft help COMMAND")[0], "COMMANDS")
            + FILES + '.SH "SEE ALSO"\n.BR weft\\-serve (1),\n.BR memcached (1)\n')


def page_of_serve(binary):
    return (".SH NAME\nweft\\-serve \\- serve clients of memcached\n"
            ".SH SYNOPSIS\n.B weft serve\n[\\fIOPTIONS\\fR]\n"
            ".SH DESCRIPTION\nA drop\\-in for memcached: it speaks the same protocols and takes "
            "the same flags.\nIts own flags are the long ones without a letter.\n"
            + options(help_of(binary, "serve"), "OPTIONS") + SIGNALS + ENVIRONMENT + FILES
            + SECURITY + '.SH "SEE ALSO"\n.BR weft (1),\n.BR memcached (1)\n')


def main():
    if len(sys.argv) != 5 or sys.argv[2] not in ("weft", "weft-serve"):
        sys.exit(__doc__.splitlines()[0])
    binary, name, version, date = sys.argv[1:]
    body = page_of_weft(binary) if name == "weft" else page_of_serve(binary)
    print(f'.TH {name.upper().replace("-", chr(92) + "-")} 1 "{date}" "Weft {version}"')
    print(body, end="")


if __name__ == "__main__":
    main()
