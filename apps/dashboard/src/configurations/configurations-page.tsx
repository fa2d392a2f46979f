import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Page, Panel } from "../parts/page.tsx";
import { Presence } from "../parts/mark.tsx";
import { Table } from "../fields/table.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";
import { deviceName } from "../texts/device-name.ts";
import { Foreign } from "../texts/foreign.tsx";

const route = getRouteApi("/configurations");
/** What has a configuration worth keeping. */
const NETWORK_DEVICES = "router,switch,firewall,access_point";

/** Network devices, each with the versions of its configuration. */
export function ConfigurationsPage() {
  const { rest } = useSession();
  const { site_id } = route.useSearch();
  const devices = useQuery({ queryKey: ["configurations", "devices", site_id], queryFn: () => rest.listDevices({ site_id, device_type: NETWORK_DEVICES, sort: "hostname", per_page: 1000 }) });
  return (
    <Page title="Configurations" note="What network devices are set to, version by version.">
      <Panel title="Routers, switches, firewalls and access points" isFlush>
        <Answer query={devices}>
          {({ data }) => (data.length === 0 ? (
            <Empty title="No network device yet">Those that are found as routers, switches, firewalls or access points are listed here.</Empty>
          ) : (
            <Table heads={["Device", "Type", "IP address", "State"]}>
              {data.map(({ id, hostname, ip, mac, device_type: type, presence_state: state }) => (
                <tr key={id}>
                  <td><Link to="/configurations/$deviceId" params={{ deviceId: id }}><Foreign text={deviceName({ hostname, ip, mac })} longest={80} /></Link></td>
                  <td>{DEVICE_TYPE_NAMES[type]}</td><td><code>{ip}</code></td><td><Presence state={state} /></td>
                </tr>
              ))}
            </Table>
          ))}
        </Answer>
      </Panel>
    </Page>
  );
}
