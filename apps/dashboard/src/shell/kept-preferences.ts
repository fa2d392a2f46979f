import type { PreferencesUpdate, Preferences as Kept } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Preferences, showPreferences, usePreferences } from "../preferences/preferences.ts";
import { useSession } from "../session/use-session.ts";

const queryKey = ["preferences"] as const;

/** One's preferences, as the collector keeps them. */
export function useKeptPreferences() {
  const { rest } = useSession();
  return useQuery({ queryKey, queryFn: () => rest.readPreferences(), staleTime: Number.POSITIVE_INFINITY, refetchInterval: false });
}

/** Changes some of them; what shows them has the answer at once. @param then Runs once they are kept, and the change lasts as long. */
export function useUpdatePreferences(then: (wanted: PreferencesUpdate) => unknown = () => {}) {
  const { rest } = useSession();
  const queries = useQueryClient();
  return useMutation({
    // One after the other, so that the last choice is the one that is kept.
    scope: { id: "preferences" },
    mutationFn: (wanted: PreferencesUpdate) => rest.updatePreferences(wanted),
    async onSuccess(answer, wanted) {
      queries.setQueryData(queryKey, answer);
      await then(wanted);
    },
  });
}

/** Shows things as the collector keeps it; to be used once. */
export function useShownPreferences(): void {
  const { data } = useKeptPreferences();
  useEffect(() => {
    if (data) showPreferences(shownOf(data));
  }, [data]);
}

/** @returns What changes how things are shown, at once; where it cannot be kept they are as before, and why is its error. */
export function useChoosePreference() {
  const shown = usePreferences();
  const update = useUpdatePreferences();
  const choose = ({ singleKeys, ...others }: Partial<Preferences>) => {
    showPreferences({ ...shown, ...others, singleKeys: singleKeys ?? shown.singleKeys });
    update.mutate({ ...others, ...(singleKeys === undefined ? {} : { single_keys: singleKeys === "on" }) }, { onError: () => showPreferences(shown) });
  };
  return { choose, error: update.error };
}

function shownOf({ theme, zone, single_keys: singleKeys }: Kept): Preferences {
  return { theme, zone, singleKeys: singleKeys ? "on" : "off" };
}
