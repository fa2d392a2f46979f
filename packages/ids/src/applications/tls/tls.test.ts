import { encodeInteger, encodeObjectIdentifier, encodeTlv } from "@lanthorn/packets";
import { describe, expect, test } from "vitest";
import { expectSafe, expectSameHoweverCut, play, type Seen, type Turn } from "../testing/play-application.ts";
import { TLS_1_2, TLS_1_2_BOTH, TLS_1_3_RETRY } from "../testing/tls-conversations.ts";
import { readRuleCertificate } from "./rule-certificate.ts";
import { TLS_APPLICATION } from "./tls.ts";

/** Values are those that Suricata 7.0.10 has for the same conversations; subjectaltname, alpn and the chain's length are of 8.0. */

const SUBJECT = 'C=US, ST=Cali, "fornia", L=L=x, O=Ex + Co, OU=\xc3\xbc Unit, CN=www.example.com, Email=a@b.c, serialNumber=77, DC=dc1, uid=uid1, title=t1, surname=sn1, givenName=gn, '
  + "streetAddress=st, postalCode=pc, dnQualifier=dq, OID(2.5.4.65)=ps, msJurisdictionCountry=US, businessCategory=bc, OID(1.2.643.3.131.1.1)=1, OID(1.2.3.4.5)=odd, generationQualifier=gq, "
  + "unstructuredName=un, OID(2.5.4.97)=oid97, description=descr";

const only = (turns: readonly Turn[]): Seen => {
  const { transactions } = play(TLS_APPLICATION, turns);
  expect(transactions).toHaveLength(1);
  return transactions[0] as Seen;
};
const pick = (seen: Seen, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, seen[name] ?? []]));
const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const join = (...parts: readonly Uint8Array[]) => Uint8Array.from(Buffer.concat(parts));

describe("a connection of TLS 1.2", () => {
  test("has what Suricata has of its hellos", () => {
    const seen = only(TLS_1_2);
    expect(pick(seen, ["tls.sni to-server", "ja3.hash to-server", "ja3.string to-server", "ja4.hash to-server", "ja3s.hash to-client", "ja3s.string to-client", "tls.alpn to-server", "tls.alpn to-client"])).toEqual({
      "tls.sni to-server": ["www.example.com"],
      "ja3.hash to-server": ["22558766122974704364c9c75c5cce0a"],
      "ja3.string to-server": ["771,49196-49200-159-52393-52392-52394-49195-49199-158-49188-49192-107-49187-49191-103-49162-49172-57-49161-49171-51-157-156-61-60-53-47-255,0-11-10-35-16-22-23-13,29-23-30-25-24,0-1-2"],
      "ja4.hash to-server": ["t12d2808h2_d943125447b4_3c5a66c06c35"],
      "ja3s.hash to-client": ["e195432758194ce2d482396b82e0d48e"],
      "ja3s.string to-client": ["771,49196,65281-11-35-16-23"],
      "tls.alpn to-server": ["h2", "http/1.1"],
      "tls.alpn to-client": ["h2"],
    });
    const [random = ""] = seen["tls.random to-server"] ?? [];
    expect(String(random)).toHaveLength(32);
    expect(pick(seen, ["tls.random_time to-server", "tls.random_bytes to-server"])).toEqual({
      "tls.random_time to-server": [String(random).slice(0, 4)], "tls.random_bytes to-server": [String(random).slice(4)],
    });
  });

  test("has the server's certificate in Suricata's spelling", () => {
    const seen = only(TLS_1_2);
    expect(pick(seen, ["tls.cert_subject", "tls.cert_issuer", "tls.cert_serial", "tls.subjectaltname", "tls.cert-chain-length", "tls.not-before", "tls.not-after"].map((name) => `${name} to-client`))).toEqual({
      "tls.cert_subject to-client": [SUBJECT],
      "tls.cert_issuer to-client": [SUBJECT],
      "tls.cert_serial to-client": ["00:FF:11:22:33:44:55:66:77"],
      "tls.subjectaltname to-client": ["a.example.com", "b.example.com", "1.2.3.4"],
      "tls.cert-chain-length to-client": [1],
      "tls.not-before to-client": [1_672_531_200],
      "tls.not-after to-client": [1_988_150_400],
    });
    expect(seen["tls.cert_fingerprint to-client"]?.[0]).toMatch(/^(?:[0-9a-f]{2}:){19}[0-9a-f]{2}$/);
    expect(String(seen["tls.certs to-client"]?.[0])).toHaveLength(1150);
  });

  test("says its version in rules' spellings, both ways", () => {
    const seen = only(TLS_1_2);
    expect(seen["tls.version to-server"]).toEqual(["0x0303", "tls1.2", "1.2", "tls 1.2", "tlsv1.2", "tls v1.2"]);
    expect(pick(seen, ["ssl.version to-server", "ssl.version to-client", "ssl.state to-client"])).toEqual({
      "ssl.version to-server": ["tls1.2"], "ssl.version to-client": ["tls1.2"], "ssl.state to-client": ["client_keyx"],
    });
  });

  test("comes in stages: hello, certificate, encrypted", () => {
    expect(play(TLS_APPLICATION, TLS_1_2).changes).toEqual(["to-server 1", "to-client 1", "to-client 2", "to-server 255", "to-client 255"]);
  });

  test("has the client's certificate on the client's side", () => {
    const seen = only(TLS_1_2_BOTH);
    expect(pick(seen, ["tls.sni to-server", "tls.cert_subject to-server", "tls.cert_subject to-client", "tls.cert_fingerprint to-server", "ja4.hash to-server"])).toEqual({
      "tls.sni to-server": [], "tls.cert_subject to-server": ["CN=client"], "tls.cert_subject to-client": ["CN=server"],
      "tls.cert_fingerprint to-server": ["0d:73:9a:e1:fe:d7:5f:b0:61:79:8c:e5:ed:14:c4:e2:96:ad:63:3a"], "ja4.hash to-server": ["t12i280600_d943125447b4_3c5a66c06c35"],
    });
  });
});

test("a connection of TLS 1.3 has the first hello of each side, where another is asked for too", () => {
  const seen = only(TLS_1_3_RETRY);
  expect(pick(seen, ["tls.sni to-server", "ja3.hash to-server", "ja4.hash to-server", "ja3s.hash to-client", "ssl.version to-client"])).toEqual({
    "tls.sni to-server": ["www.example.com"], "ja3.hash to-server": ["f146948b4a599d4d7ddf071b74696983"], "ja4.hash to-server": ["t13d041000_16476d049b0b_78f1d400d464"],
    "ja3s.hash to-client": ["15af977ce25de452b96affa2addb1036"], "ssl.version to-client": ["tls1.3"],
  });
});

test("a connection of TLS 1.3 is over for both sides with the first data of one", () => {
  expect(play(TLS_APPLICATION, TLS_1_3_RETRY.slice(0, 4)).changes).toEqual(["to-server 1", "to-client 1", "to-server 255", "to-client 255"]);
});

describe("a client's hello", () => {
  const [hello] = TLS_1_2.map(([, bytes]) => bytes);
  const changed = (from: string, to: string) => latin1(Buffer.from(hello ?? []).toString("latin1").replace(from, to));

  test.each([
    ["ends at a zero", changed("www.example", "www.ex\0mple"), ["www.ex"]],
    ["is bytes", changed("www.example", "www.ex\xffmple"), ["www.ex\xffmple.com"]],
    ["keeps its letter case", changed("www.example", "WWW.exAmple"), ["WWW.exAmple.com"]],
    ["is a host's", changed("\0\0\x0fwww", "\x01\0\x0fwww"), []],
  ])("has a name that %s", (_, bytes, names) => {
    expect(only([["to-server", bytes]])["tls.sni to-server"] ?? []).toEqual(names);
  });

  test("may come in many records", () => {
    const body = (hello ?? new Uint8Array(0)).subarray(5);
    const records = Array.from({ length: Math.ceil(body.length / 50) }, (__, at) => {
      const part = body.subarray(at * 50, at * 50 + 50);
      return join(Uint8Array.of(22, 3, 1, 0, part.length), part);
    });
    expect(only([["to-server", join(...records)]])["tls.sni to-server"]).toEqual(["www.example.com"]);
  });

  test("behind a record of an unknown version is not read", () => {
    const bytes = Uint8Array.from(hello ?? []);
    bytes[2] = 5;
    const seen = only([["to-server", bytes]]);
    expect([seen["tls.sni to-server"], seen["events"]]).toEqual([undefined, ["invalid_record_version"]]);
  });
});

describe("a certificate", () => {
  const text = (tag: number, value: string) => encodeTlv(tag, latin1(value));
  const relative = (...values: readonly Uint8Array[]) => encodeTlv(0x31, join(...values.map((value) => encodeTlv(0x30, join(encodeObjectIdentifier("2.5.4.3"), value)))));
  const certificate = (name: Uint8Array, serial: Uint8Array = encodeInteger(1), date = "230101000000Z") => encodeTlv(0x30, encodeTlv(0x30, join(
    serial, encodeTlv(0x30, new Uint8Array(0)), encodeTlv(0x30, name), encodeTlv(0x30, join(text(0x17, date), text(0x17, "330101000000Z"))), encodeTlv(0x30, name),
  )));
  const subjectOf = (name: Uint8Array) => {
    const read = readRuleCertificate(certificate(name));
    return typeof read === "string" ? read : read.subject;
  };
  const INVALID = "<X509Error: Invalid X.509 name>";

  test.each<readonly [what: string, tag: number, value: string, subject: string]>([
    ["UTF-8", 0x0c, "cn\xc3\xbc", "CN=cnü"], ["UTF-8 that is none", 0x0c, "cn\xfc", INVALID], ["Teletex in Latin-1", 0x14, "cn\xfc", INVALID],
    ["printable letters beyond ASCII", 0x13, "cn\xfc", INVALID], ["IA5 beyond ASCII", 0x16, "\xfc", INVALID], ["numeric with letters", 0x12, "123abc", "CN=123abc"],
    ["visible", 0x1a, "123abc", "CN=123abc"], ["UTF-16", 0x1e, "\0c\0n\0\xfc", "CN=cnü"], ["UTF-16 of an odd length", 0x1e, "\0c\0nx", "CN=cn"],
    ["half a surrogate", 0x1e, "\xd8\0\0n", INVALID], ["UTF-32", 0x1c, "\0\0\0c", "CN=00000063"], ["bits", 0x03, "\0nAB", "CN=006E4142"],
    ["octets", 0x04, "\0n", "CN=006E"], ["a sequence", 0x30, "\x0c\x02AB", "CN=0C024142"], ["nothing", 0x0c, "", "CN="], ["a zero", 0x0c, "a\0b", "certificate_invalid_issuer"],
  ])("has a subject of %s", (_, tag, value, subject) => {
    expect(subjectOf(relative(text(tag, value)))).toBe(subject);
  });

  test("joins the attributes of one relative name with a plus", () => {
    expect(subjectOf(join(relative(text(0x0c, "a"), text(0x0c, "b")), relative(text(0x0c, "c"))))).toBe("CN=a + CN=b, CN=c");
  });

  test("has its serial number as it is encoded", () => {
    const serialOf = (...bytes: readonly number[]) => readRuleCertificate(certificate(new Uint8Array(0), encodeTlv(2, Uint8Array.from(bytes))));
    expect([serialOf(0, 0x80), serialOf(0x7f), serialOf(0x92, 0x34), serialOf(0, 0, 0x56)]).toMatchObject([{ serial: "00:80" }, { serial: "7F" }, { serial: "92:34" }, { serial: "00:00:56" }]);
  });

  test("that cannot be read is an event", () => {
    const empty = new Uint8Array(0);
    expect([readRuleCertificate(certificate(empty, text(4, "x"))), readRuleCertificate(certificate(empty, encodeInteger(1), "231301000000Z")), readRuleCertificate(empty)])
      .toEqual(["certificate_invalid_serial", "certificate_invalid_date", "certificate_invalid_der"]);
  });
});

test("conversations are the same however they are cut, and hostile ones do no harm", () => {
  for (const turns of [TLS_1_2, TLS_1_2_BOTH, TLS_1_3_RETRY]) {
    expectSameHoweverCut(TLS_APPLICATION, turns);
    expectSafe(TLS_APPLICATION, turns);
  }
});
