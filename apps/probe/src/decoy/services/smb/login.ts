/** Who logs in: bait is let in, and guests where the persona has them. @see MS-SMB2 sections 2.2.5, 2.2.6 and 3.3.5.5 */
import { createHash } from "node:crypto";
import type { Peer, Stage } from "../service.ts";
import { createNtlmExchange, findNtlm, type NtlmExchange, type NtlmLogin, signFirst } from "../windows/ntlm.ts";
import { encodeSpnegoAccept, encodeSpnegoChallenge, findMechanisms } from "../windows/spnego.ts";
import { cut, HEADER_OCTETS, pack, refuse, type SignMessage, type SmbRequest, type SmbResponse, STATUS } from "./message.ts";
import { NEWEST } from "./negotiate.ts";
import { createSigner } from "./signing.ts";

/** Somebody who was let in. */
export interface SmbSession {
  readonly id: bigint;
  /** "" for a guest. */
  readonly username: string;
  /** Null for a guest, who has no key. */
  readonly sign: SignMessage | null;
}

/** Logins of one connection, one after the other. */
export interface SmbLogins {
  /** @param negotiated Its dialect, and the hash of what was said before. */
  setUp(request: SmbRequest, negotiated: { readonly dialect: number; readonly hash: Buffer }): { readonly response: SmbResponse; readonly session: SmbSession | null };
  /** An answer to `setUp` has gone out, as these octets. */
  answered(message: Buffer): void;
}

interface Login {
  readonly id: bigint;
  readonly exchange: NtlmExchange;
  /** As it stands in the first token; null without SPNEGO. */
  readonly mechanisms: Buffer | null;
  hash: Buffer;
}

const [GUEST, NULL_SESSION] = [0x1, 0x2] as const;

/** @returns The hash of all messages so far, and this one. @see MS-SMB2 section 3.3.5.4 */
export function addToHash(hash: Buffer, message: Buffer): Buffer {
  return createHash("sha512").update(hash).update(message).digest();
}

/** Nobody has logged in yet. */
export function createSmbLogins(peer: Peer, stage: Stage): SmbLogins {
  let login: Login | null = null;
  return {
    setUp(request, { dialect, hash }) {
      const token = readToken(request);
      const ntlm = token && findNtlm(token);
      if (!token || !ntlm) return { response: refuse(STATUS.invalid), session: null };
      login ??= { id: BigInt(peer.random(4).readUInt32LE(0)) + 1n, exchange: createNtlmExchange(stage, peer), mechanisms: findMechanisms(token), hash };
      login.hash = addToHash(login.hash, request.whole);
      const { id, exchange, mechanisms, hash: all } = login;
      const read = exchange.read(ntlm);
      if (!read) return { response: refuse(STATUS.invalid), session: null };
      const isWrapped = ntlm.length !== token.length;
      if ("challenge" in read) return { response: answer(STATUS.moreProcessing, id, 0, isWrapped ? encodeSpnegoChallenge(read.challenge) : read.challenge), session: null };
      // Whoever tries again gets another challenge.
      login = null;
      const admitted = admit(peer, stage, read.login);
      if (typeof admitted === "number") return { response: { ...refuse(admitted), sessionId: id }, session: null };
      const { key, flags, username } = admitted;
      const accept = isWrapped ? encodeSpnegoAccept(key && mechanisms && signFirst(key, mechanisms)) : Buffer.alloc(0);
      return { response: answer(STATUS.success, id, flags, accept), session: { id, username, sign: key && createSigner(dialect, key, dialect === NEWEST ? all : Buffer.alloc(0)) } };
    },
    answered(message) {
      if (login) login.hash = addToHash(login.hash, message);
    },
  };
}

/** @returns The status of a refusal, or what the session has. */
function admit(peer: Peer, { persona }: Stage, login: NtlmLogin): number | { readonly key: Buffer | null; readonly flags: number; readonly username: string } {
  const isGuest = login.isAnonymous || (login.username.toLowerCase() === "guest" && login.isProofOf(""));
  if (isGuest) {
    peer.reached("command", login.username, login.isAnonymous ? "asked for a session without a name" : "asked for a guest's session");
    if (!persona.hasGuestShare) return login.isAnonymous ? STATUS.accessDenied : STATUS.logonFailure;
    return { key: null, flags: login.isAnonymous ? GUEST | NULL_SESSION : GUEST, username: "" };
  }
  // Bait has a password of one character at least.
  let known = "";
  peer.tried(login.username, (password) => {
    const isRight = login.isProofOf(password);
    if (isRight) known = password;
    return isRight;
  }, login.detail);
  const key = known === "" ? null : login.sessionKeyOf(known);
  return key ? { key, flags: 0, username: login.username } : STATUS.logonFailure;
}

/** @see MS-SMB2 section 2.2.6 */
function answer(status: number, sessionId: bigint, flags: number, token: Buffer): SmbResponse {
  return { status, sessionId, body: Buffer.concat([pack([2, 9], [2, flags], [2, HEADER_OCTETS + 8], [2, token.length]), token]) };
}

function readToken(request: SmbRequest): Buffer | null {
  const { body } = request;
  return body.length < 24 ? null : cut(request, body.readUInt16LE(12), body.readUInt16LE(14));
}
