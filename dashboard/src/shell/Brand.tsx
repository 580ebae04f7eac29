import { Text } from '@mantine/core';
import { Link } from 'wouter';
import { texts } from '../texts';
import logo from '../theme/logo.svg';
import classes from './Brand.module.css';

export function Brand() {
  return (
    <Link href="/" className={classes.brand}>
      <img src={logo} alt="" width={28} height={28} />
      <Text span fw={650} fz="lg" lts="-0.01em">
        {texts.common.appName}
      </Text>
    </Link>
  );
}
