import type { ConfigVersion } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { count } from "../texts/count.ts";
import { deviceName } from "../texts/device-name.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { formatSize } from "../texts/size.ts";
import styles from "./configurations.module.css";
import { Difference } from "./difference.tsx";

const route = getRouteApi("/configurations/$deviceId");

/** The versions of one device's configuration, and what differs between two of them. */
export function DeviceConfigurationPage() {
  const { rest } = useSession();
  const { deviceId } = route.useParams();
  const { from, to } = route.useSearch();
  const device = useQuery({ queryKey: ["device", deviceId], queryFn: () => rest.readDevice(deviceId) });
  const versions = useQuery({ queryKey: ["configurations", deviceId], queryFn: () => rest.listDeviceConfigurations(deviceId, { per_page: 1000 }) });
  const known = device.data;
  return (
    <Page
      title={known ? `Configuration of ${showForeign(deviceName(known), 80)}` : "Configuration"}
      trail={<><Link to="/configurations">All configurations</Link> · <Link to="/devices/$deviceId" params={{ deviceId }}>The device</Link></>}
    >
      <Answer query={versions}>
        {({ data }) => (data.length === 0 ? (
          <Empty title="No version yet"><p>Upload one after each change: <code>lanthorn configs upload {deviceId} running-config.txt</code></p></Empty>
        ) : (
          <>
            <Panel title={count(data.length, "version")} isFlush><Versions versions={data} newer={to ?? String(data[0]?.version ?? "")} /></Panel>
            {data.length > 1 && <Difference deviceId={deviceId} from={from} to={to} />}
          </>
        ))}
      </Answer>
    </Page>
  );
}

function Versions({ versions, newer }: { readonly versions: readonly ConfigVersion[]; readonly newer: string }) {
  return (
    <Table heads={["Version", "Read", "Changed by", "Lines", "Size", "Compare"]}>
      {versions.map(({ id, version, captured_at: at, changed_by: by, comment, lines, lines_added: added, lines_removed: removed, size_bytes: size }) => (
        <tr key={id}>
          <td><strong>{version}</strong></td>
          <td><Moment at={at} /></td>
          <td><Foreign text={by || "not known"} longest={60} />{comment !== "" && <p className={styles["soft"]}><Foreign text={comment} longest={160} /></p>}</td>
          <td>{lines.toLocaleString("en")} <span className={styles["added"]}>+{added}</span> <span className={styles["removed"]}>−{removed}</span></td>
          <td>{formatSize(size)}</td>
          <td>
            {version > 1 && <Link to="." search={(before) => ({ ...before, from: undefined, to: String(version) })}>with the one before</Link>}
            {version < Number(newer) && <>{version > 1 && " · "}<Link to="." search={(before) => ({ ...before, from: String(version), to: newer })}>with {newer}</Link></>}
          </td>
        </tr>
      ))}
    </Table>
  );
}
