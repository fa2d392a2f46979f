import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { describe, expect, test } from "vitest";
import { tryCommand } from "../../../../test/lab/run-command.ts";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { play, type Turn, turn } from "../testing/conversation.ts";
import { expectHarmless, expectSameHoweverCut } from "../testing/expect-conversation.ts";
import { recordThrough } from "../testing/relay.ts";
import { askTsharkOf, valuesOfField } from "../testing/tshark-conversation.ts";
import type { FtpMessage } from "./ftp.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of FTP with tshark");

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Lets curl fetch a file with EPSV, and with PASV, from a server that answers as vsftpd does. */
async function recordCurl(): Promise<Turn[]> {
  const data = createServer((socket) => socket.end("contents"));
  const dataPort = await listen(data);
  const answers: Readonly<Record<string, string>> = {
    USER: "331 Please specify the password.", PASS: "230-Welcome\r\n to this server\r\n230 Login successful.", PWD: "257 \"/\" is the current directory", TYPE: "200 Switching to Binary mode.",
    EPSV: `229 Entering Extended Passive Mode (|||${dataPort}|)`, PASV: `227 Entering Passive Mode (127,0,0,1,${dataPort >> 8},${dataPort & 0xff}).`, SIZE: "213 8",
    RETR: "150 Opening BINARY mode data connection.\r\n226 Transfer complete.", QUIT: "221 Goodbye.",
  };
  const server = createServer((socket) => {
    socket.write("220 (vsFTPd 3.0.3)\r\n");
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => socket.write(`${answers[bytes.toString().slice(0, 4).trim()] ?? "550 no"}\r\n`));
  });
  const conversations = await recordThrough(await listen(server), async (port) => {
    for (const option of ["--ftp-pasv", "--disable-epsv"]) await tryCommand("curl", ["-s", option, "-u", "alice:hunter2", `ftp://127.0.0.1:${port}/plan.txt`]);
  });
  server.close();
  data.close();
  return conversations.flat();
}

function ftpOf(turns: readonly Turn[]): readonly FtpMessage[] {
  const { messages, service } = play(turns);
  expect(service).toBe("ftp");
  return messages.filter((message): message is FtpMessage => message.protocol === "ftp");
}

const recorded = await recordCurl();

describe("what curl says to a file server", () => {
  test("is read as tshark reads it, without the password", async () => {
    const messages = ftpOf(recorded);
    const commands = messages.flatMap((message) => (message.kind === "command" ? [message] : []));
    expect(commands.slice(0, 2)).toMatchObject([{ verb: "USER", argument: "alice", hasCredentials: false }, { verb: "PASS", argument: "", hasCredentials: true }]);
    expect(JSON.stringify(messages)).not.toContain("hunter2");
    expect(messages.find((message) => message.kind === "reply" && message.code === 230)).toMatchObject({ command: "PASS", lines: ["Welcome", " to this server", "Login successful."] });
    expect(messages.find((message) => message.kind === "reply" && message.code === 226)).toMatchObject({ command: "RETR" });
    const ports = messages.flatMap((message) => (message.endpoint ? [message.endpoint] : []));
    expect(ports.map(({ address }) => address)).toEqual([null, "127.0.0.1"]);
    expect(ports[0]?.port).toBe(ports[1]?.port);
    if (!tshark) return;
    const theirs = await askTsharkOf(tshark, recorded, ["ftp.request.command", "ftp.response.code", "ftp.passive.port", "ftp.epsv.port"], { port: 21, as: "ftp" });
    expect(valuesOfField(theirs, "ftp.request.command")).toEqual(commands.map(({ verb }) => verb));
    expect([...valuesOfField(theirs, "ftp.epsv.port"), ...valuesOfField(theirs, "ftp.passive.port")]).toEqual(ports.map(({ port }) => String(port)));
  });

  test("is the same however it is cut, and harmless when damaged", () => {
    expectSameHoweverCut(recorded);
    expectHarmless(recorded, seededMutations, 60);
  });
});

test("FTP's active modes say where the server will connect to", () => {
  const messages = ftpOf([
    turn(1, "220 ftp.example FTP server ready\r\n"), turn(0, "PORT 192,0,2,7,4,1\r\n"), turn(0, "EPRT |2|2001:db8::7|6275|\r\n"), turn(0, "PORT 1,2,3,999,4,5\r\n"), turn(0, "EPRT |1|x|99999|\r\n"),
  ]);
  expect(messages.map(({ endpoint }) => endpoint)).toEqual([null, { address: "192.0.2.7", port: 1025 }, { address: "2001:db8::7", port: 6275 }, null, null]);
});

test("the first command parts FTP from SMTP where the greeting does not", () => {
  const greeting = turn(1, "220 welcome\r\n");
  expect(play([greeting, turn(0, "USER bob\r\n"), turn(1, "331 go on\r\n")]).service).toBe("ftp");
  expect(play([greeting, turn(0, "EHLO bob\r\n"), turn(1, "250 hello\r\n")]).service).toBe("smtp");
});

test("FTP goes on with TLS behind AUTH TLS", () => {
  const { service } = play([turn(1, "220 FTP\r\n"), turn(0, "AUTH TLS\r\n"), turn(1, "234 go\r\n"), turn(0, Uint8Array.of(0x16, 3, 1, 0, 1, 1))]);
  expect(service).toBe("tls");
});
