import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { decodeDns, DNS_TYPE, encodeDns } from "@lanthorn/packets";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createNameServers } from "./name-servers.ts";

let server: Socket;
let questions: string[];
beforeEach(async () => {
  questions = [];
  server = createSocket("udp4", (message, from) => {
    const query = decodeDns(message);
    if (!query.ok) return;
    const [question] = query.value.questions;
    if (!question) return;
    questions.push(question.name);
    const answers = [{ name: question.name, type: DNS_TYPE.ptr, ttlSeconds: 60, data: { kind: "name", name: "printer.lan" } as const }];
    server.send(encodeDns({ id: query.value.id, isResponse: true, questions: query.value.questions, answers }), from.port, from.address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => server.close());

test("the servers of the moment are asked, an excluded one never, and none is no fault", async () => {
  const here = `127.0.0.1:${server.address().port}`;
  let servers: readonly string[] = [];
  let isExcluded: (ip: string) => boolean = () => false;
  const names = createNameServers({ servers: () => servers, isExcluded: (ip) => isExcluded(ip) });
  expect(await names.reverseNames("10.0.0.9")).toEqual([]);
  servers = [here];
  expect(await names.reverseNames("10.0.0.9")).toEqual(["printer.lan"]);
  isExcluded = (ip) => ip === "127.0.0.1";
  expect(await names.reverseNames("10.0.0.9")).toEqual([]);
  servers = ["fe80::1"];
  isExcluded = () => false;
  expect(await names.reverseNames("10.0.0.9")).toEqual([]);
  expect(questions).toEqual(["9.0.0.10.in-addr.arpa"]);
  names.close();
});
