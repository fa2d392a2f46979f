/** Lines as a Suricata of version 7 writes them. */

/** An alert. @param more Over what it has of itself. */
export function alertLine(more: Readonly<Record<string, unknown>> = {}, alert: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    timestamp: "2026-11-20T19:08:01.309112+0000", flow_id: 482290917485077, in_iface: "eth1", event_type: "alert", src_ip: "192.168.1.5", src_port: 10245,
    dest_ip: "198.51.100.8", dest_port: 80, proto: "TCP", pkt_src: "wire/pcap", tx_id: 0,
    alert: {
      action: "allowed", gid: 1, signature_id: 2_000_001, rev: 2, signature: "TEST request", category: "Web Application Attack", severity: 1,
      metadata: { signature_severity: ["Major"], mitre_technique_id: ["T1071"] }, ...alert,
    },
    http: { hostname: "evil.example", url: "/gate.php", http_method: "GET", status: 200 }, app_proto: "http", direction: "to_server", ...more,
  });
}

/** What it says of itself. */
export function statsLine(packets: number, kernelDrops: number): string {
  return JSON.stringify({
    timestamp: "2026-11-20T19:08:02.000000+0000", event_type: "stats",
    stats: { uptime: 8, capture: { kernel_packets: packets, kernel_drops: kernelDrops }, decoder: { pkts: packets - kernelDrops }, tcp: { segment_memcap_drop: 3 } },
  });
}
