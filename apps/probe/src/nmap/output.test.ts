import { describe, expect, test } from "vitest";
import { findingsOf } from "./host-findings.ts";
import { readNmapHost } from "./read-host.ts";
import { createOutputSplitter } from "./split-output.ts";

const HOST = '<host starttime="1"><status state="up" reason="arp-response"/><address addr="10.0.0.7" addrtype="ipv4"/>'
  + '<address addr="00:11:22:33:44:55" addrtype="mac" vendor="X"/>\n'
  + '<hostnames></hostnames><ports><extraports state="closed" count="2"/>\n'
  + '<port protocol="tcp" portid="443"><state state="open" reason="syn-ack"/>'
  + '<service name="http" product="nginx" version="1.22.1" ostype="Linux" tunnel="ssl" method="probed" conf="10">'
  + "<cpe>cpe:/a:igor_sysoev:nginx:1.22.1</cpe><cpe>cpe:/o:linux:linux_kernel</cpe></service>"
  + '<script id="http-title" output="Caf&#xe9; &amp; &lt;bar&gt;&#xa;second line"/></port>\n'
  + '<port protocol="tcp" portid="7777"><state state="open" reason="syn-ack"/><service name="cbt" method="table" conf="3"/></port>\n'
  + '<port protocol="tcp" portid="4444"><state state="open" reason="syn-ack"/></port>\n'
  + '<port protocol="tcp" portid="9100"><state state="open" reason="syn-ack"/><service name="jetdirect" method="table" conf="3"/></port>\n'
  + '<port protocol="tcp" portid="1"><state state="closed" reason="reset"/></port></ports>\n'
  + '<os><osmatch name="Linux 4.15 - 5.8" accuracy="96">'
  + '<osclass type="general purpose" vendor="Linux" osfamily="Linux" osgen="4.X" accuracy="96">'
  + '<cpe>cpe:/o:linux:linux_kernel:4</cpe></osclass></osmatch><osmatch name="Other" accuracy="91"/></os></host>';

describe("nmap's output", () => {
  test("is cut into hosts and progress, however it is torn apart", () => {
    const text = `<?xml version="1.0"?><!DOCTYPE nmaprun [<!ENTITY a "aaaa">]><nmaprun><hosthint><status state="up"/></hosthint>
<taskprogress task="Service scan" time="1" percent="25.00" remaining="4"/>${HOST}<taskend task="NSE" time="2"/>${HOST}</nmaprun>`;
    for (const size of [1, 7, 100, text.length]) {
      const split = createOutputSplitter();
      const pieces = Array.from(
        { length: Math.ceil(text.length / size) }, (_, index) => split(text.slice(index * size, (index + 1) * size)),
      ).flat();
      expect(pieces).toEqual([
        { kind: "progress", task: "Service scan", done: 0.25 }, { kind: "host", xml: HOST }, { kind: "progress", task: "NSE", done: 1 },
        { kind: "host", xml: HOST },
      ]);
    }
  });

  test("without end is let go of, and a host of more than nmap can say left out", () => {
    const split = createOutputSplitter();
    for (let index = 0; index < 200; index += 1) expect(split("<hosts".repeat(10_000))).toEqual([]);
    expect(split(`<host><a b="${"x".repeat(1024 * 1024)}`)).toEqual([]);
    expect(split("x".repeat(1024 * 1024 + 1))).toEqual([{ kind: "oversize" }]);
    for (let index = 0; index < 20; index += 1) expect(split("x".repeat(1024 * 1024))).toEqual([]);
    expect(split(`"/></ho`)).toEqual([]);
    expect(split(`st>${HOST}`)).toEqual([{ kind: "host", xml: HOST }]);
  });

  test("is understood: a name that is only the port's is none, and a print port is no port", () => {
    const host = readNmapHost(HOST);
    const found = host && findingsOf(host);
    expect(found).toMatchObject({
      ip: "10.0.0.7",
      ports: [
        { port: 443, finding: { service: "https", version: "nginx 1.22.1", banner: "http-title: Café & <bar>\nsecond line" } },
        { port: 7777, finding: { service: "", version: "", banner: "" } },
        { port: 4444, finding: { service: "", version: "", banner: "" } },
      ],
      verdicts: { os: { value: "Linux", source: "nmap", confidence: 0.8 }, os_version: { value: "4.X", confidence: 0.58 } },
    });
    expect(found?.verdicts.device_type).toBeUndefined();
  });

  test.each([
    ["a document type inside", `<host><!DOCTYPE a [<!ENTITY b "c">]><address addr="10.0.0.7" addrtype="ipv4"/></host>`],
    ["entities that make more of themselves", `<host><!ENTITY a "&b;&b;"><address addr="&a;" addrtype="ipv4"/></host>`],
    ["text without elements", "<host>10.0.0.7</host>"],
    ["what is no XML", `<host <<a b=c"></host>`],
    ["elements a hundred thousand deep", `<host>${"<a>".repeat(100_000)}</host>`],
    [
      "a hundred thousand open ports of one number",
      `<host><ports>${'<port protocol="tcp" portid="80"><state state="open"/></port>'.repeat(100_000)}</ports></host>`,
    ],
    ["a name of every object", `<host><__proto__ polluted="1"/><constructor polluted="1"/></host>`],
  ])("that has %s is no host, and does no harm", (_, xml) => {
    const host = readNmapHost(xml);
    expect([host ? findingsOf(host) : null, ({} as { readonly polluted?: string }).polluted]).toEqual([null, undefined]);
  });

  test("is kept where it fits, though parts of it do not", () => {
    const host = readNmapHost('<host><address addr="10.0.0.7" addrtype="ipv4"/><ports>'
      + '<port protocol="tcp" portid="99999"><state state="open"/></port>\n<port protocol="sctp" portid="5"><state state="open"/></port>'
      + '<port protocol="tcp" portid="22"><state state="open"/>'
      + `<service name="ssh&#27;[2J" product="${"x".repeat(20_000)}" method="probed" conf="10"/></port>\n`
      + '<port protocol="tcp" portid="23"><state state="open"/>'
      + `<service name="a&amp;lt;&#27;[2J" product="${"x".repeat(300)}" method="probed" conf="10"/></port></ports></host>`);
    expect(host && findingsOf(host)?.ports).toEqual([
      { port: 22, finding: { service: "", version: "", banner: "" } },
      { port: 23, finding: {
        service: "a&lt;.[2J", version: "x".repeat(255), banner: "", claims: [{ field: "product", value: "x".repeat(255), source: "nmap", confidence: 0.8 }],
        software: expect.objectContaining({ product: "x".repeat(128), version: "", cpe: "" }),
      } },
    ]);
  });
});
