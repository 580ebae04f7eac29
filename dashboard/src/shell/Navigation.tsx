import { NavLink, Text } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import { isAdministrator, useUser } from '../api/session';
import { texts } from '../texts';
import classes from './Navigation.module.css';
import { administratorNavigation, type NavigationEntry, userNavigation } from './navigation';

export function Navigation({ onNavigate }: { onNavigate: () => void }) {
  const user = useUser();
  return (
    <>
      <Entries entries={userNavigation} onNavigate={onNavigate} />
      {isAdministrator(user) && (
        <>
          <Text className={classes.part} component="h2">
            {texts.shell.administration}
          </Text>
          <Entries entries={administratorNavigation} onNavigate={onNavigate} />
        </>
      )}
    </>
  );
}

function Entries({ entries, onNavigate }: { entries: NavigationEntry[]; onNavigate: () => void }) {
  const [path] = useLocation();
  return entries.map(({ href, exact, label, icon: Icon, badge: EndBadge }) => {
    const active = path === href || (!exact && path.startsWith(`${href}/`));
    return (
      <NavLink
        key={href}
        className={classes.entry}
        component={Link}
        href={href}
        label={label}
        leftSection={<Icon size={20} stroke={1.6} />}
        rightSection={EndBadge && <EndBadge />}
        active={active}
        aria-current={active ? 'page' : undefined}
        onClick={onNavigate}
      />
    );
  });
}
