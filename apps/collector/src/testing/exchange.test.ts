import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { exchange } from "./exchange.ts";

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/** More than the kernel takes for one that does not read. */
const LARGE = "x".repeat(32 * 1024 * 1024);

test("a call whose connection is ended while its body is sent is made again, and given up where that happens each time", async () => {
  let ends = 2;
  let connections = 0;
  const server = createServer((socket: Socket) => {
    connections += 1;
    socket.on("error", () => {});
    socket.once("data", () => {
      if (ends > 0) {
        ends -= 1;
        socket.destroy();
      } else socket.resume().end(ANSWER);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const call = { method: "POST", headers: {}, body: LARGE };
  expect(await exchange(url, call)).toMatchObject({ status: 200, text: "ok" });
  expect(connections).toBe(3);
  ends = Infinity;
  await expect(exchange(url, call)).rejects.toThrow();
  server.close();
});
