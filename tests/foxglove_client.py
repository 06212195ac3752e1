#!/usr/bin/python3
# usage: tests/foxglove_client.py PORT [refused|looped]    of tests/test_foxglove.c
# A client of Foxglove's WebSocket protocol (github.com/foxglove/ws-protocol, docs/spec.md): what is
# announced, what messages hold, parameters, subscriptions; then clients that read nothing, send
# what no client should, or come from foreign pages. SPDX-License-Identifier: MIT
import asyncio
import io
import json
import random
import socket
import struct
import sys

try:
    import numpy as np
    import websockets
    from PIL import Image
except ImportError as missing:
    print(missing)
    sys.exit(77)

PORT = int(sys.argv[1])
URL = f"ws://127.0.0.1:{PORT}"
W, H, F, B = 640, 480, 500.0, 0.1  # as the server has them
DISPARITY = np.tile(16 + np.arange(W), (H, 1)).astype(np.int16)
DISPARITY[0] = -32768


class Fields:  # of a message in CDR
    def __init__(self, data):
        assert data[:4] == b"\0\1\0\0"
        self.data, self.at = data[4:], 0

    def take(self, kind):
        size = struct.calcsize(kind)
        self.at += -self.at % size
        value, = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += size
        return value

    def bytes(self):
        length = self.take("I")
        self.at += length
        return self.data[self.at - length:self.at]

    def text(self):
        return self.bytes()[:-1].decode()

    def header(self):
        stamp = self.take("I") + self.take("I") / 1e9
        assert self.text() == "left"
        return stamp

    def image(self, encoding, dtype):
        height, width = self.take("I"), self.take("I")
        assert (width, height, self.text(), self.take("B")) == (W, H, encoding, 0)
        step = self.take("I")
        pixels = np.frombuffer(self.bytes(), dtype).reshape(H, -1)
        assert step == pixels.strides[0]
        return pixels


class Client:
    async def __aenter__(self, protocol="foxglove.websocket.v1", **more):
        self.ws = await websockets.connect(URL, subprotocols=[protocol], max_size=None,
                                          ping_interval=None, **more)
        assert self.ws.subprotocol == protocol
        info, channels = json.loads(await self.ws.recv()), json.loads(await self.ws.recv())
        assert info["op"] == "serverInfo" and channels["op"] == "advertise"
        assert set(info["capabilities"]) == {"parameters", "parametersSubscribe"}
        self.channels = {c["topic"]: c for c in channels["channels"]}
        return self

    async def __aexit__(self, *_):
        try:
            await self.ws.close()
        except OSError:  # the server was faster
            pass

    async def send(self, op, **fields):
        await self.ws.send(json.dumps({"op": op, **fields}))

    async def subscribe(self, *topics, first=100):
        await self.send("subscribe", subscriptions=[
            {"id": first + i, "channelId": self.channels[topic]["id"]}
            for i, topic in enumerate(topics)])

    async def text(self, op):
        while True:
            message = await asyncio.wait_for(self.ws.recv(), 100)
            if isinstance(message, str) and json.loads(message)["op"] == op:
                return json.loads(message)

    async def data(self, subscription=None):
        while True:
            message = await asyncio.wait_for(self.ws.recv(), 100)
            if isinstance(message, bytes):
                op, number, ns = struct.unpack_from("<BIQ", message)
                assert op == 1
                if subscription in (None, number):
                    return number, ns, message[13:]

    async def take(self, topic):
        self.last = getattr(self, "last", 1000) + 1  # of the topic before, one may be on its way
        await self.subscribe(topic, first=self.last)
        _, ns, data = await self.data(self.last)
        await self.send("unsubscribe", subscriptionIds=[self.last])
        if topic == "/statistics":
            return json.loads(data)
        fields = Fields(data)
        assert abs(fields.header() - ns / 1e9) < 1e-6
        return fields


async def topics():
    async with Client() as c:
        kinds = {topic: channel["schemaName"].split("/")[-1]
                 for topic, channel in c.channels.items()}
        assert kinds == {
            "/left/image_rect": "Image", "/left/image_rect/compressed": "CompressedImage",
            "/left/camera_info": "CameraInfo", "/right/camera_info": "CameraInfo",
            "/depth/camera_info": "CameraInfo",
            "/right/image_rect/compressed": "CompressedImage", "/depth/image_rect": "Image",
            "/depth/image_rect_raw": "Image", "/disparity": "DisparityImage",
            "/disparity/image_raw": "Image", "/disparity/color/compressed": "CompressedImage",
            "/confidence": "Image", "/points": "PointCloud2",
            "/statistics": "livestereo.Statistics"}, kinds
        for channel in c.channels.values():
            assert channel["schema"] and channel["encoding"] in ("cdr", "json")
        with np.errstate(divide="ignore"):
            depth = np.where(DISPARITY < 0, np.nan, F * B / (DISPARITY / 16))
        metres = (await c.take("/depth/image_rect")).image("32FC1", np.float32)
        assert np.allclose(metres, depth, rtol=1e-6, equal_nan=True)
        mm = (await c.take("/depth/image_rect_raw")).image("16UC1", np.uint16)
        assert (mm == np.round(np.nan_to_num(1000 * depth))).mean() > 0.999
        assert np.abs(mm - np.nan_to_num(1000 * depth)).max() < 1
        raw = (await c.take("/disparity/image_raw")).image("16SC1", np.int16)
        assert (raw == DISPARITY).all()
        confidence = (await c.take("/confidence")).image("mono8", np.uint8)
        assert (confidence == np.arange(H)[:, None] % 256).all()
        left = (await c.take("/left/image_rect")).image("rgb8", np.uint8).reshape(H, W, 3)
        picture = np.arange(W)[None, :, None] // 4 + 20 * np.arange(3)
        assert (left == picture).all()
        fields = await c.take("/left/image_rect/compressed")
        assert fields.text() == "jpeg"
        jpeg = np.asarray(Image.open(io.BytesIO(fields.bytes())), int)
        assert jpeg.shape == (H, W, 3) and np.abs(jpeg - picture).mean() < 2
        fields = await c.take("/disparity/color/compressed")
        assert fields.text() == "jpeg"
        color = np.asarray(Image.open(io.BytesIO(fields.bytes())), int)
        assert color[0].max() < 60 and color[240, 30, 2] > color[240, 30, 0]  # unknown; far: blue
        fields = await c.take("/disparity")
        fields.header()
        pixels = fields.image("32FC1", np.float32)
        assert (pixels[1:] == DISPARITY[1:] / 16).all() and (pixels[0] == -1).all()
        assert np.allclose((fields.take("f"), fields.take("f")), (F, B))
        fields = await c.take("/left/camera_info")
        assert (fields.take("I"), fields.take("I"), fields.text()) == (H, W, "plumb_bob")
        points = await c.take("/points")
        assert points.take("I") == 1
        count, fields = points.take("I"), {}
        for _ in range(points.take("I")):
            name = points.text()
            fields[name] = points.take("I")
            points.take("B")
            assert points.take("I") == 1
        assert fields == {"x": 0, "y": 4, "z": 8, "rgb": 12, "confidence": 16}
        assert not points.take("B")
        step, _ = points.take("I"), points.take("I")
        data = np.frombuffer(points.bytes(), np.uint8).reshape(count, step)
        z = data[:, 8:12].copy().view(np.float32)
        assert count > 0.9 * W * H and 1.2 < z.min() < 1.23 and 49 < z.max() <= 50
        statistics = await c.take("/statistics")
        assert statistics["clients"] == 1 and statistics["frame"] > 0


async def subscriptions():
    async with Client() as c:
        await c.subscribe("/statistics", "/confidence")
        seen = {(await c.data())[0] for _ in range(12)}
        assert seen == {100, 101}, seen
        await c.send("unsubscribe", subscriptionIds=[101])
        await c.send("getParameters", parameterNames=["fill"], id="mark")
        await c.text("parameterValues")
        assert {(await c.data())[0] for _ in range(8)} == {100}
        await c.send("subscribe", subscriptions=[{"id": 1, "channelId": 99}, {"id": -1}, 5])
        assert (await c.text("status"))["level"] == 2


async def parameters():
    async with Client() as c, Client() as other:
        await other.send("subscribeParameterUpdates", parameterNames=[])
        await c.send("getParameters", parameterNames=[], id="all")
        every = (await c.text("parameterValues"))["parameters"]
        values = {p["name"]: p["value"] for p in every}
        assert len(values) > 40 and values["disparity_range"] == 64 and values["fill"] is True
        assert "backend" not in values  # acts when the program starts
        await c.send("setParameters", id="set", parameters=[
            {"name": "disparity_range", "value": 48}, {"name": "lr_check", "value": "off"},
            {"name": "fill", "value": False}])
        answer = {p["name"]: p["value"] for p in (await c.text("parameterValues"))["parameters"]}
        told = {p["name"]: p["value"] for p in (await other.text("parameterValues"))["parameters"]}
        for values in (answer, told):
            assert (values["disparity_range"], values["lr_check"], values["fill"]) == (
                48, "off", False)
        await c.subscribe("/statistics", first=5)
        for _ in range(4):  # one may be on its way, and one in the making
            last = json.loads((await c.data(5))[2])["disparity_range"]
        assert last == 48
        for bad in ({"name": "disparity_range", "value": 1e9}, {"name": "lr_check", "value": "no"},
                    {"name": "nothing", "value": 1}, {"name": "backend", "value": "cpu"},
                    {"name": "fill"}, {}, {"name": "preset", "value": "none"}):
            await c.send("setParameters", parameters=[bad], id="bad")
            assert (await c.text("status"))["level"] == 2, bad
        await c.send("setParameters", parameters=[{"name": "preset", "value": "best"}], id="p")
        values = {p["name"]: p["value"] for p in (await c.text("parameterValues"))["parameters"]}
        while values["descriptor"] != "learned":  # answers to the bad ones come first
            values = {p["name"]: p["value"]
                      for p in (await c.text("parameterValues"))["parameters"]}
        assert values["disparity_range"] == 48  # a preset leaves the range


async def other_protocol():
    c = Client()
    await c.__aenter__("foxglove.sdk.v1")
    await c.subscribe("/statistics")
    await c.data()
    await c.ws.close()


async def is_alive():
    async with Client() as c:
        await c.subscribe("/statistics")
        for _ in range(3):
            await c.data()


def request(*lines):
    s = socket.create_connection(("127.0.0.1", PORT), 10)
    s.sendall("\r\n".join(lines + ("", "")).encode())
    try:
        return s.recv(4096)
    except ConnectionError:
        return b""
    finally:
        s.close()


def foreign_pages():
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
               "Sec-WebSocket-Protocol: foxglove.websocket.v1")
    here = f"Host: 127.0.0.1:{PORT}"
    assert b"101" in request("GET / HTTP/1.1", here, *upgrade)[:20]
    assert b"101" in request("GET / HTTP/1.1", here, *upgrade, f"Origin: http://127.0.0.1:{PORT}")
    assert b"101" in request("GET / HTTP/1.1", here, *upgrade, "Origin: https://app.foxglove.dev")
    assert b"101" in request("GET / HTTP/1.1", here, *upgrade, "Origin: file://")
    for bad in (("Origin: http://evil.example",), ("Origin: null",), ("Origin: file://evil",)):
        assert b"101" not in request("GET / HTTP/1.1", here, *upgrade, *bad)[:20], bad
    for other in ((), ("Sec-WebSocket-Protocol: http",), ("Sec-WebSocket-Protocol: other",)):
        assert b"101" not in request("GET / HTTP/1.1", here, *upgrade[:-1], *other)[:20], other
    assert b"101" not in request("GET / HTTP/1.1", "Host: evil.example", *upgrade)[:20]
    assert b"200" not in request("GET / HTTP/1.1", "Host: evil.example")[:20]
    page = request("GET / HTTP/1.1", here)
    assert b"200 OK" in page[:20] and b"default-src 'none'" in page
    assert b"404" in request("GET /../etc/passwd HTTP/1.1", here)[:20]
    for odd in ("G" * 9000, "GET / HTTP/9.9", "", "POST / HTTP/1.1", "\0\xff"):
        request(odd, here)


async def hostile():
    async def closes(message):
        async with Client() as c:
            try:
                await c.ws.send(message)
                while True:
                    await asyncio.wait_for(c.ws.recv(), 10)
            except (websockets.ConnectionClosed, OSError):
                pass
    await closes(b"\1binary")
    await closes("x" * 100000)
    async with Client() as c:
        for text in ("", "[]", "{", "5", "{}", '{"op":5}', '{"op":"nothing"}', "[" * 60000,
                     '{"op":"subscribe","subscriptions":{}}{', '{"a":' * 9000):
            await c.ws.send(text)
            await c.text("status")
        await c.send("setParameters", parameters=[{"name": "\u00e9" * 300}])  # is cut in the answer
        await c.text("status")
        await c.ws.send('{"op":"getParameters","parameterNames":["fill"],"id":"\\ud800x"}')
        await c.text("parameterValues")
        for lead in ('/*"*/', '//"\n', '#"\n', "'\"':{}, "):  # are not JSON's, and hide brackets
            await c.ws.send(lead + '{"op":"getParameters","id":"x"}')
            await c.text("status")
        draw, seeds = random.Random(1), [
            '{"op":"subscribe","subscriptions":[{"id":1,"channelId":13}]}',
            '{"op":"setParameters","parameters":[{"name":"fill","value":true}],"id":"x"}',
            '{"op":"getParameters","parameterNames":["fill","mode"],"id":"x"}',
            '{"op":"unsubscribe","subscriptionIds":[1,2]}']
        for i in range(400):
            text = list(draw.choice(seeds))
            for _ in range(draw.randrange(1, 6)):
                at = draw.randrange(len(text))
                text[at:at + draw.randrange(3)] = draw.choice(
                    ["", "[", "]", "{", "}", ",", "null", "-1", "1e99", "\\u0000", '"', "\u20ac"])
            await c.ws.send("".join(text))
            await c.send("getParameters", parameterNames=["fill"], id=f"mark {i}")
            while (await c.text("parameterValues")).get("id") != f"mark {i}":
                pass


async def watchers():
    """Of a burst of changes each client that watches is due the last one alone."""
    async with Client() as c, Client() as other:
        for one in (c, other):
            await one.send("subscribeParameterUpdates", parameterNames=[])
        for i in range(300):
            await c.send("setParameters", parameters=[{"name": "speckle_size", "value": i}])
        for one in (c, other):
            value = 0
            while value != 299:
                value = {p["name"]: p["value"] for p in (await one.text("parameterValues"))[
                    "parameters"]}["speckle_size"]
        await c.send("setParameters", id="x", parameters=[{"name": "speckle_size", "value": 300}])
        ids = {(await c.text("parameterValues")).get("id") for _ in range(2)}
        assert ids == {"x", None}, ids  # the answer, and what is due


def methods():
    host = f"Host: 127.0.0.1:{PORT}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", PORT), 10) as s:
        s.sendall(f"HEAD / HTTP/1.1\r\n{host}HEAD /no HTTP/1.1\r\n{host}"
                  f"DELETE / HTTP/1.1\r\n{host}".encode())
        got = b""
        while more := s.recv(65536):
            got += more
    answers = got.split(b"HTTP/1.1 ")[1:]
    assert [a[:3] for a in answers] == [b"200", b"404", b"405"], answers
    assert answers[0].endswith(b"\r\n\r\n") and answers[1].endswith(b"\r\n\r\n"), answers
    assert b"allow: GET, HEAD" in answers[2]
    assert b"405" in request("POST / HTTP/1.1", f"Host: 127.0.0.1:{PORT}", "Content-Length: 0")


def silent():
    """Connections that say nothing are counted, too."""
    crowd = [socket.create_connection(("127.0.0.1", PORT), 10) for _ in range(200)]
    for s in crowd[:127:-1]:
        s.settimeout(8)  # those that are let in may be silent for 10 s
        try:
            assert s.recv(1) == b""
        except ConnectionError:
            pass
    for s in crowd:
        s.close()


async def slow_clients():
    """Clients that read nothing cost others nothing, and no memory beyond their newest message."""
    slow = []
    for _ in range(4):
        s = socket.create_connection(("127.0.0.1", PORT))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall((f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nUpgrade: websocket\r\n"
                   "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                   "Sec-WebSocket-Protocol: foxglove.websocket.v1\r\n\r\n").encode())
        wish = json.dumps({"op": "subscribe", "subscriptions": [
            {"id": i, "channelId": i} for i in range(1, 14)]}).encode()
        mask = b"\1\2\3\4"
        s.sendall(b"\x81" + bytes([0x80 | 126]) + struct.pack(">H", len(wish)) + mask +
                  bytes(b ^ mask[i % 4] for i, b in enumerate(wish)))
        slow.append(s)
    s, sleepy = socket.socket(), Client()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect(("127.0.0.1", PORT))
    await sleepy.__aenter__(sock=s, max_queue=1)
    await sleepy.subscribe("/confidence")
    async with Client() as c:
        await c.subscribe("/statistics")
        frames = [json.loads((await c.data())[2])["frame"] for _ in range(40)]
        assert frames == sorted(frames) and len(set(frames)) > 30
    stamps = [(await sleepy.data())[1] for _ in range(6)]  # five were on their way
    assert stamps[5] >= frames[-1] * 10**9, (stamps, frames[-1])
    await sleepy.ws.close()
    for s in slow:
        s.close()


async def many():
    clients, refused = [], 0
    for _ in range(80):
        try:
            c = Client()
            await asyncio.wait_for(c.__aenter__(), 10)
            clients.append(c)
        except (websockets.WebSocketException, OSError, EOFError):
            refused += 1
    assert len(clients) == 64 and refused == 16, (len(clients), refused)
    for c in clients:
        await c.ws.close()


async def refused():  # by a run of 160 px wide pictures
    async with Client() as c, Client() as other:
        await other.send("subscribeParameterUpdates", parameterNames=[])
        await c.send("setParameters", parameters=[{"name": "disparity_range", "value": 512}])
        values = {"disparity_range": 0}
        while values["disparity_range"] != 32:  # everyone learns what is in force
            values = {p["name"]: p["value"]
                      for p in (await other.text("parameterValues"))["parameters"]}
        status = await c.text("status")  # and whoever asked why
        assert status["level"] == 2 and "disparity_range" in status["message"], status
        await c.send("setParameters", parameters=[{"name": "speckle_size", "value": 7}], id="7")
        values = {p["name"]: p["value"] for p in (await c.text("parameterValues"))["parameters"]}
        assert (values["disparity_range"], values["speckle_size"]) == (32, 7), values
        await c.subscribe("/statistics")
        for _ in range(9):
            assert json.loads((await c.data())[2])["disparity_range"] == 32


async def looped():  # by a run of three pairs, again and again
    async with Client() as c:
        await c.subscribe("/statistics")
        stamps = [(await c.data())[1] for _ in range(12)]
        assert stamps == sorted(set(stamps)), stamps


async def main():
    await topics()
    await subscriptions()
    await parameters()
    await other_protocol()
    foreign_pages()
    methods()
    await hostile()
    await watchers()
    silent()
    await slow_clients()
    await many()
    await is_alive()


asyncio.run({"refused": refused, "looped": looped}[sys.argv[2]]() if sys.argv[2:] else main())
