/** Kerberos for rules: each message is a transaction of one direction. @see RFC 4120 section 7.2 */
import {
  type Application, type ApplicationFlow, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, type FirstBytes,
  type RecognitionVerdict, STAGE_DONE,
} from "../application.ts";
import { FieldTransaction } from "../field-transaction.ts";
import { WaitingBytes } from "../waiting-bytes.ts";
import { readKrb5, type RuleKrb5 } from "./krb5-message.ts";

const KERBEROS_PORT = 88;
const LENGTH_BYTES = 4;
const MAX_MESSAGE_BYTES = 64 * 1024;

/** @see https://www.iana.org/assignments/kerberos-parameters */
const ENCRYPTIONS: ReadonlyMap<number, string> = new Map([
  [1, "des-cbc-crc"], [2, "des-cbc-md4"], [3, "des-cbc-md5"], [5, "des3-cbc-md5"], [7, "des3-cbc-sha1"], [16, "des3-cbc-sha1-kd"], [17, "aes128-cts-hmac-sha1-96"],
  [18, "aes256-cts-hmac-sha1-96"], [19, "aes128-cts-hmac-sha256-128"], [20, "aes256-cts-hmac-sha384-192"], [23, "rc4-hmac"], [24, "rc4-hmac-exp"],
  [25, "camellia128-cts-cmac"], [26, "camellia256-cts-cmac"],
]);
/** DES and RC4. @see RFC 6649, RFC 8429 */
const WEAK: ReadonlySet<number> = new Set([1, 2, 3, 5, 7, 16, 23, 24]);

function createParser(output: ApplicationOutput, { transport }: ApplicationFlow): ApplicationParser {
  const limit = LENGTH_BYTES + MAX_MESSAGE_BYTES;
  const sides = { "to-server": new WaitingBytes(output, limit), "to-client": new WaitingBytes(output, limit) };

  function onMessage(direction: Direction, bytes: Uint8Array): boolean {
    const message = readKrb5(bytes);
    if (!message) return false;
    const transaction = new FieldTransaction("krb5");
    put(transaction, direction, message);
    transaction.setStage(direction, STAGE_DONE);
    output.onChange(transaction, direction);
    transaction.close(output, direction);
    return true;
  }

  function take(direction: Direction, bytes: Uint8Array): number {
    if (bytes.length < LENGTH_BYTES) return 0;
    const end = LENGTH_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    if (end > limit) return -1;
    if (bytes.length < end) return 0;
    return onMessage(direction, bytes.subarray(LENGTH_BYTES, end)) ? end : -1;
  }

  return {
    bytes(direction, bytes) {
      if (transport === "udp") onMessage(direction, bytes);
      else sides[direction].read(bytes, (all) => take(direction, all));
    },
    gap: (direction) => sides[direction].close(),
    end() {
      sides["to-server"].close();
      sides["to-client"].close();
    },
  };
}

function put(transaction: FieldTransaction, direction: Direction, message: RuleKrb5): void {
  const { type, client, server, errorCode, encryption, ticketEncryption } = message;
  transaction.addNumbers(direction, "krb5.msg-type", type);
  transaction.add(direction, "krb5.cname", ...client);
  transaction.add(direction, "krb5.sname", ...server);
  if (errorCode !== null) transaction.addNumbers(direction, "krb5.error-code", errorCode);
  if (encryption !== null && WEAK.has(encryption)) transaction.raise("weak_encryption");
  transaction.note("msg_type", type);
  if (ticketEncryption === null) return;
  const name = ENCRYPTIONS.get(ticketEncryption);
  transaction.setWords(direction, "krb5.ticket-encryption", String(ticketEncryption), ...(name === undefined ? [] : [name]), ...(WEAK.has(ticketEncryption) ? ["weak"] : []));
}

/** Suricata asks for the server's port. */
function recognize({ flow, bytes }: FirstBytes): RecognitionVerdict {
  if (flow.serverPort !== KERBEROS_PORT) return "no";
  if (flow.transport === "udp") return readKrb5(bytes) ? "yes" : "no";
  if (bytes.length <= LENGTH_BYTES) return bytes.length > 0 && bytes[0] !== 0 ? "no" : "more";
  const tag = (bytes[LENGTH_BYTES] as number) - 0x60;
  return bytes[0] === 0 && tag >= 10 && tag <= 30 ? "yes" : "no";
}

const WHOLE: BufferStage = { stage: STAGE_DONE, grows: false };

/** @see https://docs.suricata.io/en/latest/rules/kerberos-keywords.html */
export const KRB5_APPLICATION: Application = {
  name: "krb5",
  transports: ["tcp", "udp"],
  create: (output, _limits, flow) => createParser(output, flow),
  buffers: new Map([["krb5.cname", WHOLE], ["krb5.sname", WHOLE]]),
  numbers: new Map([["krb5.msg-type", WHOLE], ["krb5.error-code", WHOLE]]),
  words: new Map([["krb5.ticket-encryption", WHOLE]]),
  events: new Set(["weak_encryption"]),
  service: null,
  recognize,
};
