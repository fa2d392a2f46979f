/** What hellos of TLS and QUIC have alike. */
import type { TlsClientHello, TlsServerHello } from "@lanthorn/traffic";
import type { FieldTransaction } from "../field-transaction.ts";

const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1");

/** Suricata keeps it as text of C, which ends at a zero. */
export function serverNameOf({ serverName }: TlsClientHello): string {
  return serverName?.split("\0", 1)[0] ?? "";
}

/** Puts JA3 and JA4. */
export function putHelloFields(transaction: FieldTransaction, hello: TlsClientHello): void {
  transaction.add("to-server", "ja3.hash", bytesOf(hello.ja3));
  transaction.add("to-server", "ja3.string", bytesOf(hello.ja3Text));
  transaction.add("to-server", "ja4.hash", bytesOf(hello.ja4));
  if (hello.serverName !== null) transaction.note("sni", serverNameOf(hello));
  transaction.note("ja3", hello.ja3);
  transaction.note("ja4", hello.ja4);
}

/** Puts JA3S. */
export function putServerHelloFields(transaction: FieldTransaction, hello: TlsServerHello): void {
  transaction.add("to-client", "ja3s.hash", bytesOf(hello.ja3s));
  transaction.add("to-client", "ja3s.string", bytesOf(hello.ja3sText));
  transaction.note("ja3s", hello.ja3s);
}
