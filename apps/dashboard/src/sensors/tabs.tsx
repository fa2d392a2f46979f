import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import styles from "./sensors.module.css";

const TABS = [
  { to: "/sensors/dns", title: "DNS" }, { to: "/sensors/dns/queries", title: "DNS queries" }, { to: "/sensors/dns/lists", title: "DNS lists and rules" },
  { to: "/sensors/ids", title: "Intrusions" }, { to: "/sensors/ids/rules", title: "Intrusion rules" }, { to: "/sensors/anomalies", title: "Anomalies" }, { to: "/sensors/guards", title: "Guards and decoys" },
] as const;

/** The pages of sensors, beside each other. */
export function SensorTabs() {
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the current one may be out of sight.
    tabs.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "center" });
  }, []);
  return (
    <nav ref={tabs} className={styles["tabs"]} aria-label="Sensors">
      {TABS.map(({ to, title }) => <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }} activeProps={{ "aria-current": "page" }}>{title}</Link>)}
    </nav>
  );
}
