#!/usr/bin/env python3
"""api-relay.py HOST:PORT TO:PORT: passes connections on, both ways, until either side ends. TLS goes through as it is."""
import asyncio
import sys


async def pass_on(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(host, port, to_host, to_port):
    async def accept(reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection(to_host, to_port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))

    async with await asyncio.start_server(accept, host, port) as server:
        await server.serve_forever()


asyncio.run(serve(*(part for word in sys.argv[1:3] for part in word.rsplit(":", 1))))
