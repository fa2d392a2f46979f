/** File sharing: who comes says who it is by NTLM; bait is let in, and reads documents that are nowhere else. @see MS-SMB2 section 3.3.5 */
import { createFramedReader, MAX_TURN_MESSAGES } from "../framed-reader.ts";
import type { Peer, Service, Stage } from "../service.ts";
import { control, type FileContext, listFolder, queryInfo, readFile, writeFile } from "./file-commands.ts";
import { addToHash, createSmbLogins, type SmbSession } from "./login.ts";
import { COMMAND, cut, done, encodeFrame, encodeResponse, FRAME_OCTETS, isSignedBy, pack, readRequests, refuse, type SmbRequest, type SmbResponse, STATUS } from "./message.ts";
import { encodeNegotiation, encodeOldRefusal, readDialect, readOldDialect } from "./negotiate.ts";
import { createSmbOpens, entriesOf, type SmbOpen, type SmbOpens } from "./opens.ts";
import { isWindowsServer, type SmbShare, sharesOf } from "./shares.ts";

const OLD = 0xff53_4d42;
const OLD_NEGOTIATE = 0x72;
const MAX_TREES = 16;
const READ_ACCESS = 0x0012_00a9;
const [DISK, PIPE] = [1, 2] as const;

/** Who was let in, and what that one has. */
interface Guest {
  readonly session: SmbSession;
  readonly shares: readonly SmbShare[];
  readonly trees: Map<number, SmbShare>;
  readonly opens: SmbOpens;
}

/** Lets a client say who it is by NTLM. Who is not let in is refused there. */
export const smb2: Service = (peer, stage) => {
  const connection = createConnection(peer, stage);
  const end = () => {
    peer.end();
    return false;
  };
  /** Those of all frames of one turn. */
  let asked = 0;
  const readFrames = createFramedReader((bytes) => (bytes.length < FRAME_OCTETS ? null : bytes[0] === 0 ? FRAME_OCTETS + bytes.readUIntBE(1, 3) : "bad"), (frame) => {
    const message = frame.subarray(FRAME_OCTETS);
    if (message.length >= 33 && message.readUInt32BE(0) === OLD) {
      const dialect = message[4] === OLD_NEGOTIATE ? readOldDialect(message.toString("latin1", 32)) : null;
      if (dialect === null) {
        if (message[4] === OLD_NEGOTIATE && !isWindowsServer(stage.persona)) peer.send(encodeFrame([encodeOldRefusal(message)]));
        return end();
      }
      const request = { command: COMMAND.negotiate, messageId: 0n, processId: 0, treeId: 0, sessionId: 0n, credits: 1, isRelated: false, isSigned: false, body: message, whole: message };
      peer.send(encodeFrame([encodeResponse(request, { status: STATUS.success, body: encodeNegotiation(peer, stage, dialect) }, { hasNext: false, sign: null })]));
      return true;
    }
    const requests = readRequests(message);
    asked += requests?.length ?? 0;
    if (!requests || asked > MAX_TURN_MESSAGES) return end();
    const answers = connection(requests);
    if (answers.length > 0) peer.send(encodeFrame(answers));
    // Who does not read what he is answered was ended by that.
    return !peer.stream.destroyed;
  }, end);
  return (bytes) => {
    asked = 0;
    readFrames(bytes);
  };
};

/** @returns What answers the requests of one frame. */
function createConnection(peer: Peer, stage: Stage): (requests: readonly SmbRequest[]) => readonly Buffer[] {
  const [logins, entries] = [createSmbLogins(peer, stage), entriesOf(stage)];
  let [dialect, guest]: [number, Guest | null] = [0, null];
  let hash: Buffer = Buffer.alloc(64);
  const begin = (request: SmbRequest): Buffer => {
    const chosen = readDialect(request.body);
    const response = chosen === null ? refuse(STATUS.notSupported) : { status: STATUS.success, body: encodeNegotiation(peer, stage, chosen) };
    const answer = encodeResponse(request, response, { hasNext: false, sign: null });
    if (chosen !== null) [dialect, hash] = [chosen, addToHash(addToHash(Buffer.alloc(64), request.whole), answer)];
    return answer;
  };
  const setUp = (request: SmbRequest): Buffer => {
    const { response, session } = logins.setUp(request, { dialect, hash });
    const answer = encodeResponse(request, response, { hasNext: false, sign: session?.sign ?? null });
    logins.answered(answer);
    if (session) {
      const shares = sharesOf(stage);
      guest = { session, shares, trees: new Map(), opens: createSmbOpens(peer, { entries, shares }) };
    }
    return answer;
  };
  return (requests) => {
    guest?.opens.forgetLast();
    let treeId = 0;
    return requests.flatMap((given, index) => {
      if (given.command === COMMAND.cancel) return [];
      if (given.command === COMMAND.negotiate) return [begin(given)];
      if (given.command === COMMAND.sessionSetup) return [setUp(given)];
      // What goes on with another request is in its share.
      const request = given.isRelated ? { ...given, treeId, sessionId: guest?.session.id ?? 0n } : given;
      treeId = request.treeId;
      const sign = guest?.session.sign ?? null;
      const isRight = !request.isSigned || sign === null || isSignedBy(request, sign);
      const response = isRight ? answerRequest(request, guest, { peer, stage, entries, dialect, username: guest?.session.username ?? "" }) : refuse(STATUS.accessDenied);
      if (request.command === COMMAND.logoff && response.status === STATUS.success) guest = null;
      return [encodeResponse(request, response, { hasNext: index < requests.length - 1, sign: request.isSigned ? sign : null })];
    });
  };
}

function answerRequest(request: SmbRequest, guest: Guest | null, context: FileContext): SmbResponse {
  const { command } = request;
  if (command === COMMAND.echo) return done();
  if (!guest || request.sessionId !== guest.session.id) return refuse(STATUS.deleted);
  if (command === COMMAND.logoff) return done();
  if (command === COMMAND.treeConnect) return connectTree(request, guest, context);
  const share = guest.trees.get(request.treeId);
  if (!share) return refuse(STATUS.networkNameDeleted);
  if (command === COMMAND.treeDisconnect) {
    guest.trees.delete(request.treeId);
    return done();
  }
  if (command === COMMAND.create) return guest.opens.open(request, share, context.username);
  if (command === COMMAND.close) return request.body.length < 24 ? refuse(STATUS.invalid) : guest.opens.close(request);
  if (command === COMMAND.setInfo) return refuse(STATUS.accessDenied);
  if (command === COMMAND.flush || command === COMMAND.lock) return done();
  return answerOpen(request, guest.opens, context);
}

/** What is done with what is open → where in its body the id stands, the least octets of it, and what does it. */
const OPEN_COMMANDS: Readonly<Record<number, { readonly idAt: number; readonly octets: number; readonly answer: (request: SmbRequest, open: SmbOpen, context: FileContext) => SmbResponse }>> = {
  [COMMAND.read]: { idAt: 16, octets: 48, answer: readFile }, [COMMAND.write]: { idAt: 16, octets: 48, answer: writeFile },
  [COMMAND.queryDirectory]: { idAt: 8, octets: 32, answer: listFolder }, [COMMAND.queryInfo]: { idAt: 24, octets: 40, answer: queryInfo },
};

function answerOpen(request: SmbRequest, opens: SmbOpens, context: FileContext): SmbResponse {
  if (request.command === COMMAND.ioctl) return request.body.length < 56 ? refuse(STATUS.invalid) : control(request, opens.find(request, 8), context);
  const known = OPEN_COMMANDS[request.command];
  if (!known) return refuse(STATUS.notSupported);
  if (request.body.length < known.octets) return refuse(STATUS.invalid);
  const open = opens.find(request, known.idAt);
  return open ? known.answer(request, open, context) : refuse(STATUS.fileClosed);
}

/** @see MS-SMB2 sections 2.2.9, 2.2.10 and 3.3.5.7 */
function connectTree(request: SmbRequest, { shares, trees }: Guest, { peer, username }: FileContext): SmbResponse {
  const path = request.body.length < 8 ? null : cut(request, request.body.readUInt16LE(4), Math.min(1024, request.body.readUInt16LE(6)))?.toString("utf16le");
  if (path === null || path === undefined) return refuse(STATUS.invalid);
  const name = path.slice(path.lastIndexOf("\\") + 1);
  const share = shares.find((one) => one.name.toLowerCase() === name.toLowerCase());
  peer.reached("command", username, `connected to the share ${name}`);
  if (!share) return refuse(STATUS.badNetworkName);
  if (share.kind === "closed") return refuse(STATUS.accessDenied);
  if (trees.size >= MAX_TREES) return refuse(STATUS.insufficient);
  const treeId = Math.max(0, ...trees.keys()) + 1;
  trees.set(treeId, share);
  return { status: STATUS.success, treeId, body: pack([2, 16], [1, share.kind === "pipes" ? PIPE : DISK], [1, 0], [4, 0], [4, 0], [4, READ_ACCESS]) };
}
