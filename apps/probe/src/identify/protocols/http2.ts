// HTTP/2 in the clear, as gRPC and etcd speak it. @see RFC 9113 sections 3.4 and 4.1
import { learned, type TcpProtocol } from "../protocol.ts";

const PREFACE = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]);
const SETTINGS = 4;

export const http2: TcpProtocol = {
  name: "http2",
  ports: [50_051],
  hello: () => PREFACE,
  recognise(bytes) {
    if ((bytes[0] ?? 0) !== 0 || (bytes[1] ?? 0) !== 0) return "no";
    if (bytes.length < 9) return "more";
    // A frame of settings on stream 0, six bytes for each.
    return bytes[3] === SETTINGS && (bytes[2] ?? 1) % 6 === 0 && bytes[4] === 0 && bytes.subarray(5, 9).every((byte) => byte === 0) ? "yes" : "no";
  },
  learn: (_first, _connection, target) => Promise.resolve(learned(target.isSecure ? "https" : "http", { banner: "HTTP/2" })),
};
