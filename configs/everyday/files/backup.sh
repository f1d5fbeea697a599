#!/bin/sh
cp -r ~/Documents ~/Backup
