// Devices that describe themselves, by answers built as the documents say: of none of these is a daemon at hand.
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { openConnection } from "../connection.ts";
import { identifyService } from "../identify.ts";
import { createCredentials, createTestServers, identifyAt } from "../testing/test-servers.ts";
import { decodePrinterAttributes } from "./ipp.ts";
import { decodeSmb1Setup } from "./smb1.ts";

const { serve, closeAll } = createTestServers();
afterEach(closeAll);

const never = new AbortController().signal;
const random = () => 0.5;
const latin1 = (text: string) => Buffer.from(text, "latin1");
const utf16 = (text: string) => Buffer.from(text, "utf16le");

/** NTLM's challenge with names of a Windows server. */
function challenge(): Buffer {
  const pair = (id: number, text: string) => Buffer.concat([Buffer.from([id, 0, text.length * 2, 0]), utf16(text)]);
  const info = Buffer.concat([pair(2, "OFFICE"), pair(1, "PC7"), pair(3, "pc7.office.test"), Buffer.alloc(4)]);
  const head = Buffer.alloc(56);
  head.write("NTLMSSP\0\x02", 0, "latin1");
  head.writeUInt16LE(info.length, 40);
  head.writeUInt32LE(56, 44);
  head.set([10, 0, 0x61, 0x58], 48);
  return Buffer.concat([head, info]);
}

describe("a Windows machine", () => {
  test("names itself to RDP's first message inside TLS, and no user is named", async () => {
    const credentials = await createCredentials();
    const heard: Buffer[] = [];
    const { port } = await serve((socket) => {
      socket.once("data", () => {
        socket.write(Buffer.from([3, 0, 0, 19, 14, 0xd0, 0, 0, 0x12, 0x34, 0, 2, 31, 8, 0, 2, 0, 0, 0]), () => {
          const secure = createTlsServer(credentials, (inside) => inside.on("data", (bytes: Buffer) => {
            heard.push(bytes);
            const token = challenge();
            inside.write(Buffer.concat([Buffer.from([0x30, 0x81, token.length]), token]));
          }));
          secure.on("tlsClientError", () => undefined);
          secure.emit("connection", socket);
        });
      });
    });
    const found = await identifyAt(3389, port);
    expect(found).toMatchObject({
      service: "ms-wbt-server",
      verdicts: { os: { value: "Windows" }, os_version: { value: "10.0.22625" }, hostname: { value: "pc7.office.test" } },
      tls: { certificate: { commonName: "nas.lab.test" } },
    });
    expect(found?.banner).toBe("security: CredSSP\ncomputer PC7\ndomain OFFICE\nversion 10.0.22625");
    expect(heard).toHaveLength(1);
    expect(heard[0]?.includes("NTLMSSP\0\x01")).toBe(true);
  });

  test("of SMB 1 says its system and its server beside the challenge, whole or not at all", () => {
    const token = challenge();
    const frame = (texts: Buffer) => Buffer.concat([
      Buffer.from([0, 0, 1, 0]), Buffer.from([0xff]), latin1("SMB\x73"), Buffer.alloc(27),
      Buffer.from([4, 0xff, 0, 0, 0, 0, 0, token.length, 0, 0, 0]), token, Buffer.alloc((32 + 11 + token.length) % 2), texts,
    ]);
    const whole = frame(Buffer.concat([utf16("Windows 5.1\0"), utf16("Windows 2000 LAN Manager\0")]));
    expect(decodeSmb1Setup(whole)).toMatchObject({
      os: "Windows 5.1", lanManager: "Windows 2000 LAN Manager", ntlm: { computer: "PC7", domain: "OFFICE" },
    });
    for (let length = 0; length < whole.length - 1; length += 1) expect(decodeSmb1Setup(whole.subarray(0, length))).toBe(null);
  });
});

describe("a printer", () => {
  const attribute = (tag: number, name: string, value: string) =>
    Buffer.concat([Buffer.from([tag, 0, name.length]), latin1(name), Buffer.from([0, value.length]), latin1(value)]);
  const attributes = Buffer.concat([
    Buffer.from([1, 1, 0, 0, 0, 0, 0, 1, 1]), attribute(0x47, "attributes-charset", "utf-8"), Buffer.from([4]),
    attribute(0x41, "printer-make-and-model", "Brother HL-L2350DW series"), attribute(0x42, "printer-name", "office"), Buffer.from([3]),
  ]);

  test("tells its make by IPP, and is sent nothing to print", async () => {
    const asked: string[] = [];
    const { port } = await serve(() => undefined, () => createHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers["content-type"] ?? ""}`);
      if (request.method === "POST") response.end(attributes);
      else response.writeHead(404, { server: "debut/1.30" }).end();
    }));
    expect(await identifyAt(631, port)).toMatchObject({
      verdicts: { model: { value: "Brother HL-L2350DW series" }, device_type: { value: "printer" } },
    });
    expect(asked).toEqual(["GET / ", "GET /favicon.ico ", "POST /ipp/print application/ipp"]);
  });

  test("that is cut short says only what is whole", () => {
    for (let length = 0; length < attributes.length; length += 1) {
      for (const value of decodePrinterAttributes(attributes.subarray(0, length))?.values() ?? []) {
        expect(["Brother HL-L2350DW series", "office"]).toContain(value);
      }
    }
  });
});

describe("a device by UPnP", () => {
  const description = "<root><device><deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType><manufacturer>AVM &amp; "
    + "Co</manufacturer>"
    + "<modelName>FRITZ!Box</modelName><modelNumber>7590</modelNumber><friendlyName>attic</friendlyName></device></root>";

  test("is read in its description, at its own address only", async () => {
    const { port, connections } = await serve(() => undefined, () => createHttpServer((_request, response) => response.end(description)));
    const answerFrom = (host: string) => () => Promise.resolve(
      latin1(`HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\nLOCATION: http://${host}:${port}/desc.xml\r\nSERVER: x UPnP/1.0 y\r\n\r\n`),
    );
    const identify = (host: string) => identifyService(
      { ip: "127.0.0.1", port: 1900, protocol: "udp" }, { random, ask: answerFrom(host), connect: openConnection }, never,
    );
    expect(await identify("127.0.0.1")).toMatchObject({
      service: "upnp", verdicts: { vendor: { value: "AVM & Co" }, model: { value: "FRITZ!Box 7590" }, device_type: { value: "router" } },
    });
    const elsewhere = await identify("127.0.0.2");
    expect(elsewhere?.service).toBe("upnp");
    expect(elsewhere?.verdicts.model).toBe(undefined);
    expect(connections()).toBe(1);
  });

  test("that points to a print port is not asked there", async () => {
    const ports: number[] = [];
    const ask = () => Promise.resolve(latin1("HTTP/1.1 200 OK\r\nST: x\r\nLOCATION: http://127.0.0.1:9100/\r\n\r\n"));
    const connect = (target: { readonly port: number }) => {
      ports.push(target.port);
      return Promise.resolve(null);
    };
    await identifyService({ ip: "127.0.0.1", port: 1900, protocol: "udp" }, { random, ask, connect }, never);
    expect(ports).toEqual([]);
  });
});

describe("over UDP", () => {
  const identity = Buffer.concat([
    Buffer.from([0x63, 0, 50, 0]), Buffer.alloc(20), Buffer.from([1, 0, 0x0c, 0, 44, 0]), Buffer.alloc(18),
    Buffer.from([1, 0, 14, 0, 54, 0, 20, 11]), Buffer.alloc(6), Buffer.from([11]), latin1("1756-EN2T/B"),
  ]);
  const bacnet = (text: string) => Buffer.concat([
    Buffer.from([0x81, 0x0a, 0, 40, 1, 0, 0x30, 1, 0x0c, 0x0c, 2, 0, 0, 1, 0x19, 121, 0x3e, 0x75, text.length + 1, 0]), latin1(text),
    Buffer.from([0x3f]),
  ]);
  const probeMatch = "<s:Envelope><s:Body><d:ProbeMatches><d:ProbeMatch><d:Types>dn:NetworkVideoTransmitter</d:Types>"
    + "<d:Scopes>onvif://www.onvif.org/name/Cam "
    + "onvif://www.onvif.org/hardware/P3245%2DLV</d:Scopes></d:ProbeMatch></d:ProbeMatches></s:Body></s:Envelope>";
  const answers: readonly (readonly [string, number, Buffer, object])[] = [
    [
      "a controller by EtherNet/IP", 44_818, identity,
      { service: "EtherNet-IP-2", version: "1756-EN2T/B 20.11", verdicts: { vendor: { value: "Rockwell Automation" } } },
    ],
    ["a building's controller by BACnet", 47_808, bacnet("Lantern"), { service: "bacnet", verdicts: { vendor: { value: "Lantern" } } }],
    [
      "a camera by WS-Discovery", 3702, latin1(probeMatch),
      { service: "ws-discovery", verdicts: { device_type: { value: "camera" }, model: { value: "P3245-LV" } } },
    ],
    [
      "a Mumble server by its ping", 64_738, Buffer.concat([Buffer.from([0, 1, 3, 4]), latin1("lanthorn"), Buffer.alloc(12)]),
      { service: "murmur", version: "Murmur 1.3.4" },
    ],
  ];
  test.for(answers)("%s is named", async ([, port, answer, found]) => {
    expect(
      await identifyService({ ip: "127.0.0.1", port, protocol: "udp" }, { random, ask: () => Promise.resolve(answer) }, never),
    ).toMatchObject(found);
  });
});
