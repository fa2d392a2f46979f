/** The old protocol of scp for who was let in with bait: what is sent is kept as evidence, and documents are given. @see scp.c of OpenSSH, sink() and source() */
import type { ServerChannel } from "ssh2";
import { type ComingFile, MAX_FILE_BYTES } from "../../evidence/file-store.ts";
import { contentAt, createShellState, namesAt, resolvePath, type ShellState } from "../shell/answers.ts";
import { createBoundedSend } from "./bounded-send.ts";
import type { SftpGuest } from "./sftp.ts";

const [DONE, PROBLEM, LINE_END] = ["\0", "\u0001", 10] as const;
const MAX_LINE = 1024;
const MAX_FILES = 64;
/** Each is answered: two for each file, and as many for folders. */
const MAX_LINES = 256;
/** As `C0644 12 name`. */
const FILE_LINE = /^C[0-7]{4} (\d{1,15}) ([^/]{1,255})$/;

/** @param command As it is given to a shell. @returns Its mode and path; null where it is not scp's other side. */
export function readScpCommand(command: string): { readonly isSink: boolean; readonly path: string } | null {
  const [name, ...words] = command.trim().split(/\s+/, 16);
  if (name !== "scp") return null;
  const flags = words.filter((word) => /^-\w+$/.test(word)).join("");
  const path = words.findLast((word) => !word.startsWith("-"))?.replaceAll(/['"]/g, "") ?? ".";
  return /[tf]/.test(flags) ? { isSink: flags.includes("t"), path } : null;
}

/** One side of it. */
interface ScpSession {
  /** As it was given. */
  readonly path: string;
  readonly place: ShellState;
  readonly guest: SftpGuest;
  readonly send: (data: string | Uint8Array) => void;
  readonly leave: (code: number) => void;
  /** It was left: nothing that comes is read. */
  readonly isOver: () => boolean;
}

/** Serves it until it ends. */
export function serveScp(channel: ServerChannel, { isSink, path }: { readonly isSink: boolean; readonly path: string }, guest: SftpGuest): void {
  let isOver = false;
  const leave = (code: number) => {
    if (isOver) return;
    isOver = true;
    channel.exit(code);
    channel.end();
  };
  channel.on("error", () => void (isOver = true));
  (isSink ? receive : give)(channel, { path, place: createShellState(guest), guest, leave, send: createBoundedSend(channel, guest.peer), isOver: () => isOver });
}

function give(channel: ServerChannel, { path, place, guest, send, leave }: ScpSession): void {
  const whole = resolvePath(path, place);
  const found = contentAt(whole, place);
  const steps: (() => void)[] = found ? [
    () => send(`C0644 ${found.content.length} ${whole.slice(whole.lastIndexOf("/") + 1)}\n`),
    () => {
      if (found.document) guest.peer.took(found.document, guest.username);
      send(Buffer.concat([found.content, Buffer.alloc(1)]));
    },
    () => leave(0),
  ] : [() => {
    send(`${PROBLEM}scp: ${path}: ${namesAt(whole, place) ? "not a regular file" : "No such file or directory"}\n`);
    leave(1);
  }];
  channel.on("data", (bytes: Buffer) => {
    // Each zero asks for what is next.
    for (const octet of bytes.subarray(0, MAX_FILES)) if (octet === 0) steps.shift()?.();
  });
}

function receive(channel: ServerChannel, { path, place, guest, send, leave, isOver }: ScpSession): void {
  const target = resolvePath(path, place);
  let [line, left, lines, files] = [[] as number[], -1, 0, 0];
  let [coming, name, isWhole]: [ComingFile | null, string, boolean] = [null, "", true];
  const full = () => `${PROBLEM}scp: ${name}: No space left on device\n`;
  const finish = () => {
    const kept = coming?.end();
    coming = null;
    if (kept) guest.peer.gave(kept, name);
  };
  const readLine = (text: string) => {
    lines += 1;
    if (lines > MAX_LINES) return leave(1);
    const [, digits, own = ""] = FILE_LINE.exec(text) ?? [];
    if (digits === undefined) {
      if (/^[TDE]/.test(text)) send(DONE);
      else leave(1);
      return;
    }
    name = namesAt(target, place) ? `${target === "/" ? "" : target}/${own}` : target;
    guest.peer.reached("command", guest.username, `scp: wrote ${name}`);
    files += 1;
    const isTaken = files <= MAX_FILES && Number(digits) <= MAX_FILE_BYTES;
    if (isTaken) left = Number(digits);
    send(isTaken ? DONE : full());
  };
  channel.on("data", (bytes: Buffer) => {
    for (let at = 0; at < bytes.length && !isOver();) {
      if (left > 0) {
        const part = bytes.subarray(at, at + left);
        coming ??= guest.stage.files.begin(guest.peer.address);
        isWhole = coming?.add(part) === true && isWhole;
        left -= part.length;
        at += part.length;
        continue;
      }
      const octet = bytes[at] ?? 0;
      at += 1;
      if (left === 0) {
        // The zero behind the file.
        left = -1;
        finish();
        send(isWhole ? DONE : full());
        isWhole = true;
      } else if (octet === LINE_END) readLine(Buffer.from(line.splice(0)).toString("utf8"));
      else if (line.length < MAX_LINE) line.push(octet);
      else return leave(1);
    }
  });
  channel.on("end", () => {
    finish();
    leave(0);
  });
  channel.on("error", finish);
  guest.peer.onEnd(finish);
  send(DONE);
}
