"""Certificates for tests, and a client whose bytes are sealed."""

import os
import pathlib
import ssl
import tempfile

import harness


class Certificates:
    """A folder with a server's certificate, and contexts of clients. Use as a context manager. An
    `own_folder` stays, and the `group` of a service may read what is in it."""

    def __init__(self, own_folder=None, group=None):
        self._own_folder = own_folder
        self._group = group

    def __enter__(self):
        self._trustme = harness.client_library("trustme")
        self.folder = tempfile.TemporaryDirectory(prefix="weft-tls-")
        self.path = pathlib.Path(self._own_folder or self.folder.name)
        self.authority = self._trustme.CA()
        self.stranger = self._trustme.CA()
        self._replace("ca.pem", self.authority.cert_pem.bytes())
        self.renew()
        self.of_client = self.authority.issue_cert("client@test")
        self.of_stranger = self.stranger.issue_cert("stranger@test")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def renew(self):
        """Another certificate and key for the server, in the same files; its serial number."""
        issued = self.authority.issue_cert("localhost", "127.0.0.1")
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        self._replace("chain.pem", chain)
        self._replace("key.pem", issued.private_key_pem.bytes())
        self._replace("both.pem", issued.private_key_pem.bytes() + chain)
        return issued

    def _replace(self, name, data):
        new = self.path / (name + ".new")
        new.write_bytes(data)
        if self._group is not None:
            os.chown(new, -1, self._group)
            new.chmod(0o640)
        new.rename(self.path / name)

    def flags(self, extra=""):
        """What a server is started with."""
        listed = ",".join(f"ssl_{word}={self.path / file}" for word, file in (
            ("chain_cert", "chain.pem"), ("key", "key.pem"), ("ca_cert", "ca.pem")))
        return ["-Z", "-o", listed + extra]

    def context(self, who=None, version_max=None):
        """Of a client that trusts the authority, and has the certificate `who`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.authority.configure_trust(context)
        if who is not None:
            who.configure_cert(context)
        if version_max is not None:
            context.maximum_version = version_max
        return context


class TlsClient(harness.Client):
    """harness.Client by TLS."""

    def __init__(self, address, context, timeout=20.0):
        super().__init__(address, timeout)
        try:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        except (OSError, ssl.SSLError):
            self.socket.close()
            raise

    def serial(self):
        """Of the server's certificate."""
        return self.socket.getpeercert()["serialNumber"]


class TlsServer(harness.Server):
    """A server whose address speaks TLS; connect() and stats() do, too."""

    def __init__(self, certificates, flags=(), context=None, extra="", **rest):
        self.context = context or certificates.context()
        super().__init__(flags=[*certificates.flags(extra), *flags], **rest)

    def connect(self, timeout=20.0, receive_buffer=None):
        return TlsClient(self.address, self.context, timeout)
