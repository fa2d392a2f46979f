import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createTestServers, identifyAt } from "../testing/test-servers.ts";

const { serve, closeAll } = createTestServers();
afterEach(closeAll);

/** What a service says by itself, and what it answers to whatever it is asked first, second and so on. */
interface Script {
  readonly port: number;
  readonly greeting?: string | Buffer;
  readonly answers?: readonly (string | Buffer)[];
  readonly found: object;
}

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const pascal = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
const latin1 = (text: string) => Buffer.from(text, "latin1");

function mongoAnswer(): Buffer {
  const body = Buffer.concat([latin1("\x02version\0"), Buffer.from([6, 0, 0, 0]), latin1("7.0.5\0\0")]);
  const head = Buffer.alloc(16 + 4 + 1 + 4);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(2013, 12);
  return Buffer.concat([head, body]);
}

function afpAnswer(): Buffer {
  const name = pascal("Attic");
  const machineAt = 10 + name.length;
  const machine = pascal("Netatalk3.1.12");
  const versions = Buffer.concat([Buffer.from([2]), pascal("AFP2.2"), pascal("AFP3.4")]);
  const block = Buffer.concat([Buffer.from([0, machineAt, 0, machineAt + machine.length, 0, 0, 0, 0, 0, 0]), name, machine, versions]);
  return Buffer.concat([Buffer.from([1, 3, 0x4c, 0x4e, 0, 0, 0, 0]), u32(block.length), u32(0), block]);
}

/** Answers as the protocols' documents describe them, of services of which no daemon is at hand. */
const SCRIPTS: Readonly<Record<string, Script>> = {
  "MongoDB": { port: 27_017, answers: [mongoAnswer()], found: { service: "mongodb", version: "MongoDB 7.0.5" } },
  "Apple's file service": {
    port: 548, answers: [afpAnswer()], found: { service: "afp", version: "Netatalk 3.1.12", verdicts: { hostname: { value: "Attic" } } },
  },
  "Elasticsearch": {
    port: 9200,
    answers: ['HTTP/1.1 200 OK\r\nContent-Length: 71\r\n\r\n{"name":"n","version":{"number":"8.11.1","build_flavor":"default"},"a":1}'],
    found: { service: "elasticsearch", version: "Elasticsearch 8.11.1" },
  },
  "CouchDB": {
    port: 5984, answers: ['HTTP/1.1 200 OK\r\nContent-Length: 39\r\n\r\n{"couchdb":"Welcome","version":"3.3.3"}'],
    found: { service: "couchdb", version: "CouchDB 3.3.3" },
  },
  "Docker": {
    port: 2375, answers: [
      'HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}',
      'HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{"Version":"24.0.7","ApiVersion":"1.43" }',
    ],
    found: { service: "docker", version: "Docker Engine 24.0.7" },
  },
  "Kubernetes": {
    port: 8001, answers: [
      'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n{}', 'HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n{"gitVersion":"v1.29.1"}',
    ],
    found: { service: "kubernetes", version: "Kubernetes 1.29.1" },
  },
  "SQL Server": {
    port: 1433, answers: [Buffer.from([4, 1, 0, 20, 0, 0, 0, 0, 0, 0, 6, 0, 6, 0xff, 16, 0, 0x10, 0x5d, 0, 0])],
    found: { service: "ms-sql-s", version: "Microsoft SQL Server 2022 16.00.4189" },
  },
  "ident": { port: 113, answers: ["1 , 1 : ERROR : NO-USER\r\n"], found: { service: "ident" } },
  "DICT": {
    port: 2628, greeting: "220 lab dictd 1.13.0/rf on Linux 6.1.0 <auth.mime> <1@lab>\r\n",
    found: { service: "dict", version: "dictd 1.13.0" },
  },
  "gpsd": {
    port: 2947, greeting: '{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}\r\n',
    found: { service: "gpsd", version: "gpsd 3.22" },
  },
  "a Git server": {
    port: 9418, answers: ["0040ERR access denied or repository not exported: /lanthorn"], found: { service: "git", version: "git-daemon" },
  },
  "ManageSieve": {
    port: 4190, greeting: '"IMPLEMENTATION" "Dovecot Pigeonhole"\r\n"SASL" ""\r\nOK "Dovecot ready."\r\n',
    found: { service: "sieve", version: "Dovecot Pigeonhole" },
  },
  "clamd": { port: 3310, answers: ["ClamAV 1.0.3/27000/Fri Nov 20 10:00:00 2026\n"], found: { service: "clamd", version: "ClamAV 1.0.3" } },
  "ZooKeeper": {
    port: 2181, answers: ["Zookeeper version: 3.8.0-5a02a05, built on 2022-02-25\nLatency min/avg/max: 0/0.0/0\n"],
    found: { service: "zookeeper", version: "ZooKeeper 3.8.0" },
  },
  "a Zabbix agent": {
    port: 10_050, answers: [Buffer.concat([latin1("ZBXD\x01"), Buffer.from([6, 0, 0, 0, 0, 0, 0, 0]), latin1("6.0.14")])],
    found: { service: "zabbix-agent", version: "Zabbix agent 6.0.14" },
  },
  "Asterisk": {
    port: 5060, answers: ["SIP/2.0 200 OK\r\nServer: Asterisk PBX 20.5.0\r\nContent-Length: 0\r\n\r\n"],
    found: { service: "sip", version: "Asterisk 20.5.0" },
  },
  "an RTSP camera": {
    port: 554, answers: ["RTSP/1.0 200 OK\r\nCSeq: 1\r\nServer: Hipcam RealServer/V1.0\r\n\r\n"],
    found: { service: "rtsp", verdicts: { device_type: { value: "camera" } } },
  },
  "BitTorrent": {
    port: 51_413, answers: [Buffer.concat([latin1("\x13BitTorrent protocol"), Buffer.alloc(28), latin1("-TR3000-abcdefghijkl")])],
    found: { service: "bittorrent", version: "Transmission 3.0.0.0" },
  },
  "a Siemens controller": {
    port: 102,
    answers: [
      Buffer.from([3, 0, 0, 7, 2, 0xd0, 0]), Buffer.from([3, 0, 0, 9, 2, 0xf0, 0x80, 0x32, 3]),
      Buffer.concat([
        Buffer.from([3, 0, 0, 34, 2, 0xf0, 0x80, 0x32, 7]), latin1("\0\x01CPU 315-2 PN/DP\0\0\0\0\0\0\0\0\0").subarray(0, 25),
      ]),
    ],
    found: { service: "iso-tsap", verdicts: { vendor: { value: "Siemens" }, model: { value: "CPU 315-2 PN/DP" } } },
  },
};

describe("a service of which no daemon is at hand", () => {
  test.for(Object.entries(SCRIPTS))("is named by the answers that its documents describe: %s", async ([, script]) => {
    const { port } = await serve((socket: Socket) => {
      const answers = [...(script.answers ?? [])];
      if (script.greeting !== undefined) socket.write(script.greeting);
      socket.on("data", () => {
        const next = answers.shift();
        if (next !== undefined) socket.write(next);
      });
    });
    expect(await identifyAt(script.port, port)).toMatchObject(script.found);
  });
});
