import { useAllCommands } from "../keyboard/commands.ts";
import { Dialog } from "../parts/dialog.tsx";
import { usePreferences } from "../preferences/preferences.ts";
import styles from "./help-dialog.module.css";
import { Keys } from "./keys.tsx";

const GROUPS = ["This page", "Go to", "Anywhere"] as const;

/** Every key that does something here. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const commands = useAllCommands().filter(({ keys }) => keys !== undefined);
  const { singleKeys } = usePreferences();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div className={styles["help"]}>
        {singleKeys === "off" && <p>Single keys are turned off; those with Control work. You turn them on beside your name.</p>}
        {GROUPS.map((group) => {
          const own = commands.filter((command) => command.group === group);
          return own.length > 0 && (
            <section key={group}>
              <h3>{group}</h3>
              <dl>{own.map(({ id, title, keys = "" }) => <div key={id}><dt>{title}</dt><dd><Keys keys={keys} /></dd></div>)}</dl>
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}
