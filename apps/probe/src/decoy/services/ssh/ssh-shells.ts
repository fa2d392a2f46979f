/** Shells of SSH for who was let in with bait. @see RFC 4254 sections 6 and 7 */
import type { Connection, ServerChannel, Session } from "ssh2";
import { createTranscript } from "../../evidence/transcript.ts";
import type { Peer, Stage } from "../service.ts";
import { createShell, type Shell } from "../shell/shell.ts";
import { createBoundedSend } from "./bounded-send.ts";
import { readScpCommand, serveScp } from "./scp.ts";
import { serveSftp } from "./sftp.ts";

interface Guest {
  readonly peer: Peer;
  readonly stage: Stage;
  readonly username: string;
}

/** MaxSessions. */
const MAX_CHANNELS = 10;
const MAX_SIZE = 500;
/** Clients take 32 KiB. The library cuts what it sends into such packets, for ever where they are empty. */
const MIN_PACKET_OCTETS = 1024;

/** Serves shells and commands; files come and go by sftp and scp; forwarding is reported and refused. Nothing connects out. */
export function serveShells(client: Connection, guest: Guest): void {
  const { peer, username } = guest;
  let channels = 0;
  client.on("session", (accept, reject) => {
    channels += 1;
    if (channels > MAX_CHANNELS) reject();
    else serveSession(accept(), guest);
  });
  client.on("tcpip", (_, reject, { destIP, destPort }) => {
    peer.reached("command", username, `asked to be forwarded to ${destIP} port ${destPort}`);
    reject();
  });
  client.on("request", (_, reject, name) => {
    peer.reached("command", username, `asked for ${name}`);
    reject?.();
  });
}

function serveSession(session: Session, guest: Guest): void {
  const { peer, username } = guest;
  let size = { columns: 80, rows: 24 };
  session.on("pty", (accept, _, { cols, rows }) => {
    size = { columns: Math.min(MAX_SIZE, cols || 80), rows: Math.min(MAX_SIZE, rows || 24) };
    accept?.();
  });
  session.on("env", (accept) => accept?.());
  session.on("window-change", (accept) => accept?.());
  session.on("shell", (accept) => {
    open(toFitChannel(accept(), guest), guest, size)?.shell.begin();
  });
  session.on("exec", (accept, _, { command }) => {
    const [scp, channel] = [readScpCommand(command), toFitChannel(accept(), guest)];
    if (scp && channel) {
      peer.reached("command", username, command);
      return serveScp(channel, scp, guest);
    }
    const opened = open(channel, guest, size);
    opened?.send(opened.shell.execute(command));
    opened?.leave();
  });
  session.on("sftp", (accept) => {
    peer.reached("command", username, "began sftp");
    const channel = toFitChannel(accept(), guest);
    if (channel) serveSftp(channel, guest);
  });
}

/** @param channel Undefined where the session has one already. @returns Null where nothing can be said. */
function toFitChannel<T extends object>(channel: T | undefined, { peer }: Guest): T | null {
  const { packetSize = 0 } = (channel as { readonly outgoing?: { readonly packetSize: number } } | undefined)?.outgoing ?? {};
  if (channel && packetSize < MIN_PACKET_OCTETS) peer.stream.destroy();
  return channel && packetSize >= MIN_PACKET_OCTETS ? channel : null;
}

function open(channel: ServerChannel | null, { peer, stage, username }: Guest, size: { readonly columns: number; readonly rows: number }): { readonly shell: Shell; readonly send: (text: string) => void; readonly leave: () => void } | null {
  if (!channel) return null;
  const transcript = createTranscript(peer.now().getTime(), peer.monotonic, size);
  let isOpen = true;
  const finish = () => {
    if (!isOpen) return;
    isOpen = false;
    peer.recorded(transcript.text());
  };
  channel.on("close", finish);
  channel.on("error", finish);
  peer.onEnd(finish);
  const send = createBoundedSend(channel, peer);
  const leave = () => {
    channel.exit(0);
    channel.end();
  };
  const shell = createShell({ peer, stage, username, transcript, send, onExit: leave });
  channel.on("data", (bytes: Buffer) => shell.type(bytes));
  return { shell, send, leave };
}
