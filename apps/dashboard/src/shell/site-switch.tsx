import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { showForeign } from "../texts/foreign.tsx";
import { useSession } from "../session/use-session.ts";
import styles from "./site-switch.module.css";

/** Sites by id, as every page that names one needs them. One request for all of them. */
export function useSites() {
  const { rest } = useSession();
  return useQuery({ queryKey: ["sites"], queryFn: () => rest.listSites({ per_page: 1000 }), staleTime: 60_000 });
}

/** Chooses the site that every page shows; all of them at first. The choice is in the address. */
export function SiteSwitch() {
  const sites = useSites();
  const chosen = useSearch({ strict: false, select: ({ site_id }) => site_id ?? "" });
  const navigate = useNavigate();
  const choose = (siteId: string) => void navigate({
    to: ".", search: (before) => ({ ...before, site_id: siteId === "" ? undefined : siteId, page: undefined, cursor: undefined }),
  });
  return (
    <select className={styles["switch"]} aria-label="Site" value={chosen} onChange={(event) => choose(event.target.value)}>
      <option value="">All sites</option>
      {sites.data?.data.map(({ id, name }) => <option key={id} value={id}>{showForeign(name, 60)}</option>)}
    </select>
  );
}
