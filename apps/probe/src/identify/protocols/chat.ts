// Talk: IRC (RFC 2812), XMPP (RFC 6120), NNTP (RFC 3977), RTSP (RFC 7826), SIP over TCP (RFC 3261).
import {
  beginsWith, claims, endsLine, endsReply, learned, printable, replyText, SHORT_ANSWER_MS, type TcpProtocol, toText,
} from "../protocol.ts";
import { encodeSipOptions, learnSip } from "./sip.ts";

/** Registers under the name `lanthorn`, reads the welcome, and leaves. @see RFC 2812 sections 3.1 and 5.1 */
export const irc: TcpProtocol = {
  name: "irc",
  ports: [194, 6660, 6665, 6666, 6667, 6668, 6669, 6697, 7000],
  alpn: ["irc"],
  hello: () => "NICK lanthorn\r\nUSER lanthorn 0 * :lanthorn\r\n",
  ownPortsOnly: true,
  recognise(bytes) {
    const text = toText(bytes, 512);
    if (/^(?::\S+ (?:\d{3}|NOTICE|PING) |PING |NOTICE |ERROR :)/m.test(text)) return "yes";
    return /^[:PNE]?/.test(text) && !endsLine(bytes) && /^(?::|P|N|E|$)/.test(text) ? "more" : "no";
  },
  async learn(first, connection) {
    let text = toText(first);
    for (let round = 0; round < 4 && !/^:\S+ (?:004|433|451|465) /m.test(text) && !/^ERROR /m.test(text); round += 1) {
      const cookie = /^PING :?(\S+)/m.exec(text)?.[1];
      if (cookie !== undefined && round === 0) connection.send(`PONG :${cookie}\r\n`);
      const more = toText(await connection.read((bytes) => /^:\S+ 004 |^PING |^ERROR /m.test(toText(bytes)), SHORT_ANSWER_MS));
      if (more === "") break;
      text += more;
    }
    connection.send("QUIT\r\n");
    const line = /^:\S+ 00[24] \S+ :?(.*)$/m.exec(text)?.[1] ?? "";
    return learned("irc", {
      answers: [{ kind: "irc", text: line }], claims: claims("irc", 0.8, { hostname: /^:(\S+) 00\d /m.exec(text)?.[1] }),
      banner: printable(text),
    });
  },
};

/** Opens a stream and reads the server's beginning of it; nobody logs in. @see RFC 6120 section 4 */
export const xmpp: TcpProtocol = {
  name: "xmpp-client",
  ports: [5222, 5223, 5269],
  alpn: ["xmpp-client"],
  hello: (target) => `<?xml version='1.0'?><stream:stream to='${target.ip}' xmlns='jabber:client' `
    + `xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>`,
  ownPortsOnly: true,
  recognise: (bytes) => beginsWith(bytes, "<?xml version='1.0'?><stream:stream", "<stream:stream", '<?xml version="1.0"?><stream:stream'),
  learn: (first, _connection, target) => Promise.resolve(learned(target.port === 5269 ? "xmpp-server" : "xmpp-client", {
    // In the words of mod_c2s and mod_s2s, to whoever asks for a host that is not there.
    claims: claims("xmpp", 0.7, /This server does not serve /.test(toText(first)) ? { product: "Prosody", vendor: "Prosody" } : {}),
    banner: printable(toText(first)),
  })),
};

/** The greeting alone: it names the software. @see RFC 3977 section 5.1 */
export const nntp: TcpProtocol = {
  name: "nntp",
  ports: [119, 563],
  alpn: ["nntp"],
  recognise(bytes) {
    const text = toText(bytes, 512);
    if (!/^(?:2|20|20[01].*)?$/s.test(text)) return "no";
    return endsReply(bytes) ? (/nntp|news|INN/i.test(text) ? "yes" : "no") : "more";
  },
  learn(first) {
    const text = toText(first);
    const inn = /InterNetNews(?: NNRP)? server INN (\d[\w.]*)/.exec(text)?.[1];
    return Promise.resolve(learned("nntp", {
      texts: [{ kind: "nntp", text: replyText(text) }],
      claims: claims("nntp", 0.9, inn === undefined ? {} : { product: "InterNetNews (INN)", vendor: "ISC", version: inn }),
      banner: printable(text),
    }));
  },
};

/** OPTIONS, whose answer has a `Server` field. @see RFC 7826 section 13.1 */
export const rtsp: TcpProtocol = {
  name: "rtsp",
  ports: [554, 8554, 7070],
  hello: (target) => `OPTIONS rtsp://${target.ip}:${target.port}/ RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: Lanthorn\r\n\r\n`,
  ownPortsOnly: true,
  recognise: (bytes) => (beginsWith(bytes, "RTSP/1.0 ") === "yes" && !toText(bytes).includes("\r\n\r\n")
    ? "more"
    : beginsWith(bytes, "RTSP/1.0 ")),
  learn(first) {
    const text = toText(first);
    const server = /^Server: *(.+?)\r?$/im.exec(text)?.[1] ?? "";
    return Promise.resolve(learned("rtsp", {
      answers: server === "" ? [] : [{ kind: "http-server", text: server }], texts: [{ kind: "rtsp-server", text: server }],
      claims: claims("rtsp", 0.5, { device_type: "camera" }), banner: printable(text),
    }));
  },
};

/** OPTIONS over TCP or TLS, which rings no phone. @see RFC 3261 section 11 */
export const sip: TcpProtocol = {
  name: "sip",
  ports: [5060, 5061],
  alpn: ["sip/2"],
  hello: (target) => encodeSipOptions(target, "TCP"),
  ownPortsOnly: true,
  recognise: (bytes) => (beginsWith(bytes, "SIP/2.0 ") === "yes" && !toText(bytes).includes("\r\n\r\n")
    ? "more"
    : beginsWith(bytes, "SIP/2.0 ")),
  learn: (first, _connection, target) => Promise.resolve(learnSip(first, target.isSecure ? "sips" : "sip")),
};
