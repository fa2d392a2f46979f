import { expect, test } from "vitest";
import { expectSafe, expectSameHoweverCut, play, type Turn } from "../testing/play-application.ts";
import { FTP_APPLICATION } from "./ftp.ts";

const say = (side: "<" | ">", text: string): Turn => [side === ">" ? "to-server" : "to-client", Buffer.from(text, "latin1")];
const SESSION: readonly Turn[] = [
  say("<", "220-hello\r\n220 ready\r\n"), say(">", "USER anonymous\r\n"), say("<", "331 password?\r\n"), say(">", "PASS secret\r\n"), say("<", "230 in\r\n"), say(">", "retr /etc/passwd\r\n"),
  say("<", "150 opening\r\n226 done\r\n"), say(">", "QUIT\r\n"), say("<", "221 bye\r\n"),
];

test("each command is a transaction with its replies, without passwords", () => {
  const { transactions } = play(FTP_APPLICATION, SESSION);
  expect(transactions.map((seen) => [seen["ftp.command to-server"], seen["ftp.command_data to-server"], seen["ftp.completion_code to-client"], seen["ftp.reply to-client"]])).toEqual([
    [undefined, undefined, ["220", "220"], ["hello", "ready"]], [["USER"], ["anonymous"], ["331"], ["password?"]], [["PASS"], undefined, ["230"], ["in"]],
    [["retr"], ["/etc/passwd"], ["150", "226"], ["opening", "done"]], [["QUIT"], undefined, ["221"], ["bye"]],
  ]);
});

test("AUTH gives the connection to TLS, where the server agrees", () => {
  const ask = (reply: string) => play(FTP_APPLICATION, [say(">", "AUTH TLS\r\n"), say("<", reply), say(">", "\x16\x03\x01")]).changes.filter((change) => change.startsWith("switch"));
  expect([ask("234 go\r\n"), ask("502 no\r\n")]).toEqual([["switch tls"], []]);
});

test("bytes that are cut, damaged or random do no harm", () => {
  expectSameHoweverCut(FTP_APPLICATION, SESSION);
  expectSafe(FTP_APPLICATION, SESSION);
});
