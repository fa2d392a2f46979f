import { createServer, type AddressInfo, type Socket } from "node:net";
import { createFakeClock } from "@lanthorn/runtime";
import { expect, onTestFinished, test } from "vitest";
import { createTargetPolicy } from "../../../deliveries/sending/target-policy.ts";
import { createFeedClient } from "./client.ts";

test.each([["its answer", ""], ["the handshake behind it", "HTTP/1.1 200 OK\r\n\r\n"]])("a proxy that never gives %s is given up after two minutes", async (_, answer) => {
  const sockets: Socket[] = [];
  let onHeard = () => {};
  const heard = new Promise<void>((resolve) => {
    onHeard = resolve;
  });
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {}).on("data", (bytes) => {
      if (bytes.toString("latin1").startsWith("CONNECT")) socket.write(answer);
      // With an answer, what comes next is the first message of TLS.
      if (answer === "" || !bytes.toString("latin1").startsWith("CONNECT")) onHeard();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const clock = createFakeClock(0);
  const client = createFeedClient(
    { clock, policy: createTargetPolicy([]), resolve: () => Promise.resolve([]), userAgent: "test" },
    { ca: null, proxy: { host: "127.0.0.1", port: (server.address() as AddressInfo).port, authorization: null } },
  );
  const got = client.get({ url: "https://feeds.example/kev.json", headers: {}, stop: new AbortController().signal }).then(() => null, (error: unknown) => error);
  await heard;
  await clock.advance(120_000);
  expect(await got).toMatchObject({ name: "FeedFailure", code: "stalled" });
});
