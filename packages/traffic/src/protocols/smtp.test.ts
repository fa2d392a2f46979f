import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { tryCommand } from "../../../../test/lab/run-command.ts";
import { seededMutations } from "../../../packets/src/testing/hostile.ts";
import { unpackOrSay } from "../../../packets/src/testing/tshark.ts";
import { play, playSegments, segmentsOf, type Turn, turn } from "../testing/conversation.ts";
import { expectHarmless, expectSameHoweverCut } from "../testing/expect-conversation.ts";
import { recordThrough } from "../testing/relay.ts";
import { askTsharkOf, valuesOfField } from "../testing/tshark-conversation.ts";
import type { SmtpMessage } from "./smtp.ts";

const tshark = await unpackOrSay(["tshark"], "comparison of SMTP with tshark");

/** Answers as Postfix does; for curl. */
async function startServer() {
  const server = createServer((socket) => {
    let body: string | null = null;
    socket.write("220 mail.example ESMTP Postfix\r\n");
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      const text = bytes.toString("latin1");
      if (body !== null) {
        body += text;
        if (!body.endsWith("\r\n.\r\n")) return;
        body = null;
        socket.write("250 2.0.0 Ok: queued as 1\r\n");
      } else if (text.startsWith("EHLO")) socket.write("250-mail.example\r\n250-SIZE 1000\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME\r\n");
      else if (text.startsWith("AUTH LOGIN")) socket.write("334 VXNlcm5hbWU6\r\n");
      else if (text.startsWith("DATA")) {
        body = "";
        socket.write("354 End data with <CR><LF>.<CR><LF>\r\n");
      } else if (/^[A-Za-z0-9+/=]+\r\n$/.test(text) && !text.startsWith("QUIT")) socket.write(text.startsWith("aHVud") ? "235 2.7.0 ok\r\n" : "334 UGFzc3dvcmQ6\r\n");
      else socket.write(text.startsWith("QUIT") ? "221 2.0.0 Bye\r\n" : "250 2.1.0 Ok\r\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function smtpOf(turns: readonly Turn[]): readonly SmtpMessage[] {
  const { messages, service } = play(turns);
  expect(service).toBe("smtp");
  return messages.filter((message): message is SmtpMessage => message.protocol === "smtp");
}

const words = (messages: readonly SmtpMessage[]) => messages.map((message) => (message.kind === "command" ? `${message.verb} ${message.argument}`.trim() : `${message.code} to ${message.command ?? "nothing"}`));

async function recordCurl(): Promise<Turn[]> {
  const server = await startServer();
  const [turns = []] = await recordThrough((server.address() as AddressInfo).port, (port) => tryCommand("sh", [
    "-c", "printf 'Subject: x\\r\\n\\r\\nMAIL FROM:<inside@example>\\r\\n..dot\\r\\nsecret words\\r\\n' | curl -s --login-options AUTH=LOGIN -u alice:hunter2 --mail-from a@x.example --mail-rcpt b@y.example "
      + `--mail-rcpt c@y.example -T - smtp://127.0.0.1:${port}/client.example`,
  ]));
  server.close();
  return turns;
}

const recorded = await recordCurl();

describe("what curl says to a mail server", () => {
  test("is read as tshark reads it, without message and password", async () => {
    const messages = smtpOf(recorded);
    expect(words(messages)).toEqual([
      "220 to nothing", "EHLO client.example", "250 to EHLO", "AUTH LOGIN", "334 to AUTH", "334 to AUTH", "235 to AUTH", "MAIL FROM:<a@x.example>", "250 to MAIL", "RCPT TO:<b@y.example>",
      "250 to RCPT", "RCPT TO:<c@y.example>", "250 to RCPT", "DATA", "354 to DATA", "250 to message", "QUIT", "221 to QUIT",
    ]);
    expect(messages.flatMap((message) => (message.kind === "command" && message.address !== null ? [message.address] : []))).toEqual(["a@x.example", "b@y.example", "c@y.example"]);
    expect(messages[2]).toMatchObject({ lines: ["mail.example", "SIZE 1000", "AUTH PLAIN LOGIN", "8BITMIME"] });
    for (const secret of ["hunter2", "aHVudGVyMg", "YWxpY2U", "secret words", "inside@example"]) expect(JSON.stringify(messages)).not.toContain(secret);
    if (!tshark) return;
    const theirs = await askTsharkOf(tshark, recorded, ["smtp.req.command", "smtp.req.parameter"], { port: 25, as: "smtp" });
    const commands = messages.flatMap((message) => (message.kind === "command" ? [message.verb] : []));
    expect(valuesOfField(theirs, "smtp.req.command").filter((verb) => verb !== "AUTH" && verb.length > 3)).toEqual(commands.filter((verb) => verb !== "AUTH"));
  });

  test("is the same however it is cut, and harmless when damaged", () => {
    expectSameHoweverCut(recorded);
    expectHarmless(recorded, seededMutations, 60);
  });
});

describe("SMTP", () => {
  const greeting = turn(1, "220 mail.example ESMTP\r\n");

  test("hides the credentials of AUTH in its line", () => {
    const messages = smtpOf([greeting, turn(0, "AUTH PLAIN AGFsaWNlAGh1bnRlcjI=\r\n"), turn(1, "535 no\r\n"), turn(0, "MAIL FROM:<>\r\n")]);
    expect(messages).toMatchObject([{}, { verb: "AUTH", argument: "PLAIN", hasCredentials: true }, { code: 535, command: "AUTH" }, { verb: "MAIL", address: "" }]);
    expect(JSON.stringify(messages)).not.toContain("AGFsaWNl");
  });

  test("goes on with TLS behind STARTTLS", () => {
    const hello = Buffer.from("16030100310100002d0303000000000000000000000000000000000000000000000000000000000000000000000613011302130301000000".padEnd(108, "0"), "hex");
    const { service } = play([greeting, turn(0, "EHLO x\r\n"), turn(1, "250 STARTTLS\r\n"), turn(0, "STARTTLS\r\n"), turn(1, "220 go\r\n"), turn(0, new Uint8Array(hello))]);
    expect(service).toBe("tls");
  });

  test("takes commands at once, and the message that follows their answers", () => {
    const messages = smtpOf([
      greeting, turn(0, "EHLO x\r\n"), turn(1, "250 PIPELINING\r\n"), turn(0, "MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n"), turn(1, "250 ok\r\n550 no\r\n354 go\r\n"),
      turn(0, ".\r\nRSET\r\nBDAT 12 LAST\r\nhello, worldQUIT\r\n"), turn(1, "250 ok\r\n250 ok\r\n250 ok\r\n221 bye\r\n"),
    ]);
    expect(words(messages).slice(3)).toEqual([
      "MAIL FROM:<a@b>", "RCPT TO:<c@d>", "DATA", "250 to MAIL", "550 to RCPT", "354 to DATA", "RSET", "BDAT 12 LAST", "QUIT", "250 to message", "250 to RSET", "250 to BDAT", "221 to QUIT",
    ]);
  });

  test("shows nothing of a message whose server is not seen, nor behind a gap", () => {
    const client = [turn(0, "EHLO x\r\nMAIL FROM:<a@b>\r\nDATA\r\n"), turn(0, "QUIT with words\r\nHELP secret\r\n.\r\nRSET\r\n")];
    expect(words(smtpOf(client))).toEqual(["EHLO x", "MAIL FROM:<a@b>", "DATA", "RSET"]);
    const turns = [greeting, turn(0, "EHLO x\r\n"), turn(1, "250 ok\r\n"), turn(0, "DATA\r\n"), turn(1, "354 go\r\n"), turn(0, "HELP secret\r\n"), turn(0, "NOOP secret\r\n")];
    const { messages } = playSegments(segmentsOf(turns).toSpliced(7, 1));
    expect(JSON.stringify(messages)).not.toContain("secret");
  });
});
