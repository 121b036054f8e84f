"""Where machines are."""

from __future__ import annotations

import sys

import pytest

from .addresses import Address, MappedAddresses, PrivateAddresses, PublicAddresses
from .errors import AwsError
from .machines import Machine

MACHINES = [
    Machine("i-1", "eu-west-1", "running", "192.0.2.1", "10.0.0.1"),
    Machine("i-2", "eu-west-1", "pending", None),
]


def command(code: str) -> str:
    return f'{sys.executable} -c "{code}"'


def test_public_addresses_are_those_of_aws_once_there_are_some() -> None:
    assert PublicAddresses().find(MACHINES) == {"i-1": Address("192.0.2.1", "http://192.0.2.1:7172")}


def test_private_addresses_are_those_inside_the_vpc() -> None:
    assert PrivateAddresses().find(MACHINES) == {"i-1": Address("10.0.0.1", "http://10.0.0.1:7172")}


def test_a_command_maps_the_machines_it_knows() -> None:
    code = (
        "import json, sys; print(json.dumps({m['id']: {'address': '127.0.0.9', 'control': 'http://127.0.0.9:' + m['id'][2:]}"
        " for m in json.load(sys.stdin) if m['state'] == 'running'}))"
    )
    assert MappedAddresses(command(code)).find(MACHINES) == {
        "i-1": Address("127.0.0.9", "http://127.0.0.9:1")
    }


@pytest.mark.parametrize(
    "code", ["import sys; sys.exit('no such map')", "print('[]')", "print(1 / 0)", "print('{\\'x\\': 1}')"]
)
def test_a_command_that_fails_says_how(code: str) -> None:
    with pytest.raises(AwsError) as error:
        MappedAddresses(command(code)).find(MACHINES)
    assert error.value.code == "ADDRESS_MAP_FAILED"
    assert "no such map" in str(error.value) or "no such map" not in code


def test_a_command_that_is_not_there() -> None:
    with pytest.raises(AwsError) as error:
        MappedAddresses("/no/such/command").find(MACHINES)
    assert error.value.code == "ADDRESS_MAP_FAILED"
